#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "models/driver/residency.hpp"
#include "models/vm/page_table_entry.hpp"

namespace lockstep {

/// A full binary tree over a part of an allocation: its leaves are blocks of 64 KiB, its root 2
/// MiB.  The rest at the end of an allocation is rounded up to the next smaller tree, whose last
/// leaves may lie behind the allocation.  Source: 001, section B.3.3.
struct TreeLayout {
  ManagedPage first;
  std::uint64_t pages = 0;   ///< pages that exist
  std::uint32_t leaves = 0;  ///< number of leaves: a power of two, at most 32

  /// Returns the tree that holds `page` of an allocation.
  static TreeLayout around(ManagedPage page, const Allocation& allocation) {
    TreeLayout tree;
    tree.first = page.rounded_down(pages_per_large);
    tree.pages = std::min(pages_per_large, allocation.end() - tree.first);
    const std::uint64_t blocks = (tree.pages + pages_per_block - 1) / pages_per_block;
    tree.leaves = static_cast<std::uint32_t>(std::bit_ceil(blocks));
    return tree;
  }
  ManagedPage end() const { return first + pages; }
  /// Returns the leaf of a page.
  std::uint32_t leaf(ManagedPage page) const {
    return static_cast<std::uint32_t>((page - first) / pages_per_block);
  }
  /// Returns the pages of a leaf that exist.
  PageRange pages_of(std::uint32_t leaf) const {
    const ManagedPage begin = std::min(end(), first + leaf * pages_per_block);
    return {begin, std::min(end(), begin + pages_per_block) - begin};
  }
};

}  // namespace lockstep
