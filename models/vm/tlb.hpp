/// Translation arrays: what TLBs and walk caches keep.
///
/// Sets of entries, least recently used replaced first, tagged with the tenant and a number (of a
/// page, of a large page, or of a place in a page table).  An entry is found through a hash, as if
/// all ways were compared at once, so that a fully associative array costs no scan. Source: 004,
/// section 7.1.2 (separate entries for 4 KiB and 2 MiB pages, tagged by address space).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "core/memory/buckets.hpp"
#include "models/vm/page_table_entry.hpp"
#include "models/vm/tlb_key.hpp"

namespace lockstep {

/// A bit for each page of a span, which has as many pages as a large page at most.
using PageBits = std::array<std::uint64_t, pages_per_large / 64>;

class TlbArray {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  struct Entry {
    TlbKey key;  ///< key of the entry; none: the place is empty
    PageTableEntry value;
    std::uint32_t newer = none, older = none;  ///< replacement order within the set
    std::uint32_t chain = none;                ///< next entry of the bucket
    std::uint32_t mark = 0;                    ///< mark of the owner; 0 in a new entry

    bool is_empty() const { return key == TlbKey{}; }

    template <class Archive>
    void serialize(Archive& archive) {
      archive(key, value, newer, older, chain, mark);
    }
  };

  TlbArray() = default;
  /// `ways` of a set, which divide `entries`; 0: fully associative.
  TlbArray(std::uint32_t entries, std::uint32_t ways);

  /// Returns the entry's index; `none` when it is absent.  The replacement order stays the same.
  std::uint32_t find(TlbKey key) const {
    if (used_ == 0) return none;  // an unused TLB is in none of this computer's caches
    for (std::uint32_t i = heads_[bucket_of(key)]; i != none; i = entries_[i].chain)
      if (entries_[i].key == key) return i;
    return none;
  }
  /// Makes the entry the most recently used one of its set.
  void touch(std::uint32_t index) {
    if (entries_[index].newer != none) move_to_newest(index);
  }
  /// Enters `value` as the most recently used entry, over an older value of the key or in place of
  /// the set's least recently used one.  Returns its index.
  std::uint32_t insert(TlbKey key, PageTableEntry value);
  /// Returns the tenant whose entry an insert replaced since the last call, if any.
  std::optional<TenantId> take_evicted() { return std::exchange(evicted_, std::nullopt); }
  /// Drops the entry. Returns whether it was there.
  bool drop(TlbKey key);
  void drop_at(std::uint32_t index);
  /// Returns the number of entries dropped.
  std::uint32_t drop_tenant(TenantId tenant);
  std::uint32_t drop_all();

  /// Calls function(entry) for each entry: set by set, the least recently used first.
  template <class Function>
  void for_each(Function&& function) const {
    for (const Order& order : orders_)
      for (std::uint32_t i = order.oldest; i != none; i = entries_[i].newer)
        if (!entries_[i].is_empty()) function(entries_[i]);
  }

  /// Returns the number of entries that for_each() may pass.
  std::size_t places() const { return used_ == 0 ? 0 : entries_.size(); }

  Entry& operator[](std::uint32_t index) { return entries_[index]; }
  const Entry& operator[](std::uint32_t index) const { return entries_[index]; }

  void serialize(Archive& archive);

 private:
  struct Order {
    std::uint32_t newest = none, oldest = none;
    std::uint32_t entries = 0;  ///< entries made so far; the others need no memory

    template <class Archive>
    void serialize(Archive& archive) {
      archive(newest, oldest, entries);
    }
  };

  std::size_t bucket_of(TlbKey key) const { return buckets_.of(key.bits()); }
  Order& order_of(std::uint32_t index) { return orders_[index / ways_]; }
  /// Makes an empty entry at the oldest end of a set that has unmade entries left.
  void make_entry(Order& order);
  void link_oldest(Order& order, std::uint32_t index);
  void move_to_newest(std::uint32_t index);
  void unlink(std::uint32_t index);
  void unchain(std::uint32_t index);
  void find_heads();

  std::uint32_t ways_ = 1, used_ = 0;
  std::optional<TenantId> evicted_;  ///< tenant whose entry the last insert evicted
  Buckets buckets_;
  std::vector<Entry> entries_;  ///< entries, set by set, up to the last one made
  /// Bucket heads; empty before the first entry: many TLBs stay empty.
  std::vector<std::uint32_t> heads_;
  std::vector<Order> orders_;
};

/// A translation lookaside buffer: arrays for pages of 4 KiB and of 2 MiB.
struct Tlb {
  Tlb() = default;
  /// Takes any parameters with entries, ways, large_entries and large_ways.
  template <class Parameters>
  explicit Tlb(const Parameters& p)
      : base(p.entries, p.ways), large(p.large_entries, p.large_ways) {}

  /// Returns the entry of `page` within a large page whose first page has the entry `first`.
  static constexpr PageTableEntry entry_within(PageTableEntry first, VirtualPage page) {
    return {first.bits + page.value() % pages_per_large * page_bytes};
  }

  /// `value` goes where its `large` bit says.
  void insert(TenantPage where, PageTableEntry value) {
    if (value.is(PageTableEntry::large)) {
      large.insert(TlbKey::large(where), value);
    } else {
      base.insert(TlbKey::base(where), value);
    }
  }
  /// Drops the entries that translate the page. Returns whether there were any.
  bool drop(TenantPage where) {
    const bool small = base.drop(TlbKey::base(where));
    return large.drop(TlbKey::large(where)) || small;
  }
  /// Sets the bits of those of `count` pages from `first` on that drop() has to be told: pages with
  /// an entry, and the first one of each large page with an entry.
  void mark(TenantPage first, std::uint32_t count, PageBits& bits) const;
  std::size_t places() const { return base.places() + large.places(); }
  std::uint32_t drop_tenant(TenantId tenant) {
    return base.drop_tenant(tenant) + large.drop_tenant(tenant);
  }
  std::uint32_t drop_all() { return base.drop_all() + large.drop_all(); }

  void serialize(Archive& archive) {
    base.serialize(archive);
    large.serialize(archive);
  }

  TlbArray base, large;
};

}  // namespace lockstep
