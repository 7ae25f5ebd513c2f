/// Tree-based eviction: the 64 KiB block of the least recently used page, and every subtree around
/// it that is less than half valid is emptied.
///
/// Going up from the block to the root (2 MiB), a node whose valid size has fallen below half its
/// capacity loses the rest.  Source: virtual-memory-and-exceptions.md, section 10 (tbn), the mirror
/// of the prefetcher of 001, section B.3.3.
///
/// Simplified: as lru; pages that may not be evicted stay and count as valid.
#include <bit>
#include <set>

#include "models/driver/eviction/page_recency.hpp"
#include "models/driver/eviction/victims.hpp"
#include "models/driver/tree_layout.hpp"

namespace lockstep {
namespace {

/// Pages that one choice has taken so far.
class Pruning {
 public:
  Pruning(const EvictionView& view, std::vector<PageRange>& victims)
      : view_(view), victims_(victims) {}

  std::uint64_t found() const { return found_; }

  /// Takes the block of `page` and the nodes that are emptied with it.
  void start(ManagedPage page) {
    const TreeLayout tree = TreeLayout::around(page, view_.residency().owner(page));
    const std::uint32_t leaf = tree.leaf(page);
    if (!take(tree.pages_of(leaf))) return;
    count(page, 1);
    for (std::uint32_t width = 2; width <= tree.leaves; width *= 2) {
      const std::uint32_t first = leaf / width * width;
      std::uint64_t valid = 0;
      for (std::uint32_t i = first; i < first + width; ++i) valid += remaining(tree.pages_of(i));
      if (2 * valid >= width * pages_per_block) continue;
      const std::uint64_t before = found_;
      for (std::uint32_t i = first; i < first + width; ++i) take(tree.pages_of(i));
      if (found_ > before) count(page, width);
    }
  }

 private:
  /// Takes the block. Returns false if it was taken before.
  bool take(const PageRange& block) {
    if (!taken_.insert(block.first).second) return false;
    found_ += append_evictable(view_, block, victims_);
    return true;
  }
  /// Counts an emptied node: the node of `width` blocks around the page has lost its remaining
  /// pages.
  void count(ManagedPage page, std::uint32_t width) const {
    TreeDecisions* decisions = view_.decisions(view_.residency().owner(page).tenant);
    if (decisions != nullptr) ++(*decisions)[static_cast<std::size_t>(std::countr_zero(width))];
  }
  std::uint64_t remaining(const PageRange& block) const {
    const bool taken = taken_.contains(block.first);
    std::uint64_t count = 0;
    for (ManagedPage page = block.first; page < block.end(); ++page) {
      count += view_.residency().valid(page) && !(taken && view_.evictable(page));
    }
    return count;
  }

  const EvictionView& view_;
  std::vector<PageRange>& victims_;
  std::set<ManagedPage> taken_;  ///< first pages of blocks
  std::uint64_t found_ = 0;
};

class TreeEviction final : public PageRecency {
 public:
  void choose(const EvictionView& view, std::uint64_t wanted_pages, std::uint64_t,
              std::vector<PageRange>& victims) override {
    Pruning pruning(view, victims);
    for (std::uint32_t number = order().oldest();
         number != RecencyList::none && pruning.found() < wanted_pages;
         number = order().next_newer(number)) {
      if (view.evictable(ManagedPage{number})) pruning.start(ManagedPage{number});
    }
    sort_victims(view.residency(), victims);
  }
};

}  // namespace

EvictionRow tree_eviction() {
  return {"tree", "that block, and subtrees that are mostly gone (mirrors the prefetcher)",
          make_eviction_as<TreeEviction>};
}

}  // namespace lockstep
