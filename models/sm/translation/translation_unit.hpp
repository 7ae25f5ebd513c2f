/// The SM's side of virtual memory: L1 TLB, pages asked for (MSHRs) and the accesses parked there.
///
/// A line of an access whose page is not in the TLB is parked with the page; other accesses go on,
/// hits and further misses alike.  When the answer comes the parked lines leave in order, before
/// anything else is looked up, so that nothing to the page passes them.  The TLB never translates a
/// page that has parked lines waiting for an answer: who comes later finds no entry and parks
/// behind.  Source: architecture.md, section 8, rules 6 to 8; 001, section B.2 (hit and miss under
/// miss, Nack-Replayable); 004, section 7.1.2 (TLB).
///
/// Cost model: a hit costs nothing, a miss what link and GMMU take.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "core/memory/buckets.hpp"
#include "core/memory/slot_pool.hpp"
#include "models/sm/access/access.hpp"
#include "models/vm/lost_entries.hpp"
#include "models/vm/messages.hpp"
#include "models/vm/mirror.hpp"
#include "models/vm/tlb.hpp"

namespace lockstep {

/// One line of a parked access.
struct ParkedGroup {
  std::uint16_t next = 0xffff;
  std::uint16_t access = 0xffff;
  std::uint16_t group = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(next, access, group);
  }
};

/// A page that was asked for and whose lines have not all left.
struct PageMiss {
  enum class State : std::uint8_t {
    unused,
    asked,
    refused,   ///< not in GPU memory: asks again after a replay
    draining,  ///< `entry` translates what is parked
    invalid,   ///< outside of every buffer: waits for the end of its tenant
  };
  std::uint64_t key = 0;  ///< Tlb::base_key
  PageTableEntry entry;
  std::int64_t refused_since = -1;  ///< cycle of the first refusal since it was there; -1: none
  std::uint16_t chain = 0xffff;
  std::uint16_t first = 0xffff, last = 0xffff;  ///< parked lines
  State state = State::unused;
  bool stored = false;    ///< page_written was sent or is not needed
  bool faulted = false;   ///< was refused since its lines last left
  bool replayed = false;  ///< a replay has named it

  std::uint64_t page() const { return TlbArray::number_of(key); }
  std::uint16_t tenant() const { return TlbArray::tenant_of(key); }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(key, entry.bits, refused_since, chain, first, last, state, stored, faulted, replayed);
  }
};

/// A shootdown that waits for requests sent under it.
struct OpenShootdown {
  PageSpan span;
  std::uint32_t requests = 0;
  std::uint32_t reserved = 0;
  std::array<std::uint64_t, pages_per_large / 64> stored{};

  template <class Archive>
  void serialize(Archive& archive) {
    archive(span.page, span.count, span.id, span.tenant, span.sm, requests, reserved, stored);
  }
};

class TranslationUnit {
  // With `tlb` in front of all that is looked at less often: see SmState::warm_window.
  // The page found last: also the one used last, so that finding it again changes no order.
  static constexpr std::uint64_t no_page = ~std::uint64_t{0};
  std::uint64_t last_key_ = no_page;
  std::uint64_t last_frame_ = 0;
  bool last_stored_ = false, last_remote_ = false;

 public:
  static constexpr std::uint16_t none = 0xffff;

  TranslationUnit() = default;
  template <class Parameters>
  TranslationUnit(const Parameters& l1_tlb, std::size_t tenants)
      : tlb(l1_tlb),
        known(tenants),
        mshrs_(l1_tlb.mshrs),
        heads_(buckets_.count(), none),
        flushed_(l1_tlb) {}

  /// True if the TLB has the page and a store needs nothing more; `physical` then translates.
  bool find(std::uint64_t key, bool write) {
    if (key == last_key_ && (!write || last_stored_)) [[likely]]
      return true;
    return find_in_arrays(key, write);
  }
  std::uint64_t physical(std::uint64_t address) const {
    return last_frame_ | (address & (page_bytes - 1));
  }
  /// The page found last is host memory, reached over the host link.
  bool remote() const { return last_remote_; }

  /// The TLB's entry for a page or the large page around it; nullptr: none.
  TlbArray::Entry* entry_of(std::uint64_t key);
  /// A store under this entry needs no page_written.
  static bool is_known_written(PageTableEntry entry);
  /// A store goes out under the entry, if the TLB has one; true: the first that is known of.
  bool note_store(std::uint64_t key);
  /// The TLB has an entry for the page, and a store to GPU memory has gone out under it.
  bool stored_under(std::uint64_t key);
  void fill(std::uint64_t key, PageTableEntry entry);
  bool drop(std::uint64_t key);
  /// Returns the number of entries dropped.
  std::uint32_t flush(std::uint16_t tenant);
  /// The TLB had the page until a flush, and has not had it since.
  bool was_flushed(std::uint64_t key) const {
    return flushed_.find(TlbArray::tenant_of(key), TlbArray::number_of(key)).has_value();
  }

  bool full() const { return asked_ >= mshrs_; }
  std::uint32_t asked() const { return asked_; }
  /// Pages refused whose lines have not left, without those that nobody waits for any more.
  std::uint32_t faulted() const { return faulted_; }

  std::uint16_t find_miss(std::uint64_t key);
  std::uint16_t take_miss(std::uint64_t key);
  void give_back_miss(std::uint16_t index);
  PageMiss& miss(std::uint16_t index) { return misses_[index]; }
  void set_state(std::uint16_t index, PageMiss::State state);
  void set_faulted(std::uint16_t index, bool faulted);
  /// Calls function(index) for each page asked for, by index; it may give that one back.
  template <class Function>
  void for_each_miss(Function&& function) {
    for (std::size_t i = 0; i < misses_.capacity(); ++i)
      if (misses_[i].state != PageMiss::State::unused) function(static_cast<std::uint16_t>(i));
  }

  std::size_t parked_accesses() const { return accesses_.used(); }
  /// Copies the access unless that was done for an earlier line.
  void park(std::uint16_t miss, Access& access, unsigned group);
  /// The first line parked for a page.
  const ParkedGroup& front(std::uint16_t miss) { return groups_[misses_[miss].first]; }
  Access& access_of(const ParkedGroup& group) { return accesses_[group.access]; }
  void pop(std::uint16_t miss);
  /// A parked line or the queue does not need the copy any more.
  void release(std::uint16_t access) {
    if (--accesses_[access].holders == 0) accesses_.give_back(access);
  }
  /// Calls function(access, group) for each parked line until it returns true.
  template <class Function>
  void for_each_parked(std::uint16_t miss, Function&& function) {
    for (std::uint16_t i = misses_[miss].first; i != none; i = groups_[i].next)
      if (function(access_of(groups_[i]), groups_[i].group)) return;
  }

  void serialize(Archive& archive);

  Tlb tlb;
  PageTableMirror known;               ///< with ideal translation: all pages that are mapped
  std::deque<std::uint16_t> draining;  ///< misses with parked lines, in order of their answers
  SlotPool<OpenShootdown> shootdowns;

 private:
  bool find_in_arrays(std::uint64_t key, bool write);
  std::uint16_t& head_of(std::uint64_t key) { return heads_[buckets_.of(key)]; }

  std::uint32_t mshrs_ = 0, asked_ = 0, faulted_ = 0;
  Buckets buckets_{256};
  std::vector<std::uint16_t> heads_;
  SlotPool<PageMiss> misses_;
  SlotPool<ParkedGroup> groups_;
  SlotPool<Access> accesses_;  ///< copies, each shared by the lines of it that are parked
  LostEntries flushed_;
};

}  // namespace lockstep
