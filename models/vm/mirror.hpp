/// Content of the page tables, kept without reading them from memory.
///
/// Walks of a fixed latency and ideal translation use it, which read no memory.  The driver's
/// messages keep it up to date, and it holds the accessed and dirty bits until a page is unmapped.
/// It has a leaf table for each 2 MiB with mapped pages.
/// Source: 001, section B.2 (walks of a fixed latency); 004, sections 6.2 and 7.5 (ideal TLB).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "models/vm/page_table_entry.hpp"
#include "models/vm/tenant_page.hpp"

namespace lockstep {

class PageTableMirror {
 public:
  PageTableMirror() = default;
  explicit PageTableMirror(std::size_t tenants) : spaces_(tenants) {}

  /// Returns the entry as a walk would return it: in a large page, the entry of its first page with
  /// the `large` bit.
  PageTableEntry find(TenantPage where) const {
    const Leaf* leaf = leaf_of(where);
    if (!leaf) return {};
    if (!leaf->large) return {leaf->entries[place_of(where)]};
    const std::uint64_t first = leaf->entries[0];
    return {first == 0 ? 0 : first | PageTableEntry::large};
  }

  /// Maps a page. An entry that was known before keeps the bits that were set since.
  void map(TenantPage where, PageTableEntry entry, bool large) {
    Space& space = spaces_[where.tenant.value()];
    const std::size_t number = where.page.value() / pages_per_large;
    if (number >= space.size()) space.resize(number + 1);
    if (!space[number]) space[number] = std::make_unique<Leaf>();
    space[number]->large = large;
    std::uint64_t& place = space[number]->entries[place_of(where)];
    const bool same = ((place ^ entry.bits) & ~PageTableEntry::flags) == 0;
    place = entry.bits | (same ? place & set_by_use : 0);
  }
  void set(TenantPage where, std::uint64_t bits) {
    Leaf* leaf = leaf_of(where);
    if (leaf) leaf->entries[leaf->large ? 0 : place_of(where)] |= bits;
  }
  /// Unmaps the page; the bits that its use has set.
  std::uint64_t take(TenantPage where) {
    Leaf* leaf = leaf_of(where);
    if (!leaf) return 0;
    leaf->large = false;
    return std::exchange(leaf->entries[place_of(where)], 0) & set_by_use;
  }

  bool is_empty() const {
    return std::all_of(spaces_.begin(), spaces_.end(), [](const Space& s) { return s.empty(); });
  }

  void serialize(Archive& archive) {
    for (Space& space : spaces_) {
      std::uint64_t size = space.size();
      archive(size);
      archive.require(size);
      space.resize(size);
      for (std::unique_ptr<Leaf>& leaf : space) {
        bool there = leaf != nullptr;
        archive(there);
        if (there && !leaf) leaf = std::make_unique<Leaf>();
        if (there) archive(leaf->large, leaf->entries);
      }
    }
  }

 private:
  static constexpr std::uint64_t set_by_use = PageTableEntry::accessed | PageTableEntry::dirty;
  struct Leaf {
    std::array<std::uint64_t, pages_per_large> entries{};
    bool large = false;
  };
  using Space = std::vector<std::unique_ptr<Leaf>>;

  static std::size_t place_of(TenantPage where) { return where.page.value() % pages_per_large; }
  Leaf* leaf_of(TenantPage where) const {
    const std::size_t number = where.page.value() / pages_per_large;
    const Space& space = spaces_[where.tenant.value()];
    return number < space.size() ? space[number].get() : nullptr;
  }

  std::vector<Space> spaces_;
};

}  // namespace lockstep
