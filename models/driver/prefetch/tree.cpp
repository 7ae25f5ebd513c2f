/// Tree-based neighbourhood prefetching: the block of a faulting page migrates, and every subtree
/// around it that is more than half valid is completed.
///
/// The faulting blocks count as full; going up from them to the root (2 MiB), a node whose valid
/// size exceeds `threshold` of its capacity has its remaining blocks fetched and counts as full for
/// the nodes above.  So the prefetched size grows from 64 KiB to 1 MiB.
/// Source: 001, section B.3.3, Figure 2; virtual-memory-and-exceptions.md, section 5.4.
///
/// Simplified: nodes without a faulting block beneath them stay as they are.
#include <array>
#include <bit>
#include <numeric>

#include "core/parameters/parameters.hpp"
#include "models/driver/prefetch/missing_pages.hpp"
#include "models/driver/tree_layout.hpp"

namespace lockstep {
namespace {

struct TreeParameters {
  double threshold;

  static auto schema() {
    using P = TreeParameters;
    return parameters<P>().field("threshold", &P::threshold, 0.5, range(0.0, 1.0),
                                 "share of a node's pages: a node with a larger valid share is "
                                 "completed (001, section B.3.3)",
                                 "ratio");
  }
};

class Tree final : public Prefetcher {
 public:
  explicit Tree(const TreeParameters& parameters) : parameters_(parameters) {}

  void choose(const FaultGroup& group, std::vector<PageRange>& moves) const override {
    for (std::size_t i = 0; i < group.faults.size();) {
      const TreeLayout tree = TreeLayout::around(group.faults[i], group.allocation);
      std::uint32_t faulting = 0;
      for (; i < group.faults.size() && group.faults[i] < tree.end(); ++i) {
        faulting |= 1u << tree.leaf(group.faults[i]);
      }
      for (std::uint32_t rest = blocks(group, tree, faulting); rest != 0; rest &= rest - 1) {
        append_missing(group, tree.pages_of(std::countr_zero(rest)), moves);
      }
    }
  }

 private:
  /// Returns the blocks to move, a bit for each leaf.
  std::uint32_t blocks(const FaultGroup& group, const TreeLayout& tree,
                       std::uint32_t faulting) const {
    std::array<std::uint64_t, 32> valid{};  // pages of each leaf, there or to come
    for (std::uint32_t leaf = 0; leaf < tree.leaves; ++leaf) {
      const PageRange pages = tree.pages_of(leaf);
      valid[leaf] = faulting >> leaf & 1 ? pages_per_block
                                         : group.residency.count_valid(pages.first, pages.count);
    }
    std::uint32_t chosen = faulting;
    count(group, 1, static_cast<std::uint64_t>(std::popcount(faulting)));
    for (std::uint32_t width = 2; width <= tree.leaves; width *= 2) {
      const std::uint32_t one_node = ~0u >> (32 - width);
      for (std::uint32_t first = 0; first < tree.leaves; first += width) {
        if (!(faulting & one_node << first)) continue;
        const auto begin = valid.begin() + first, end = begin + width;
        const std::uint64_t capacity = width * pages_per_block;
        const std::uint64_t size = std::accumulate(begin, end, std::uint64_t{0});
        if (size == capacity ||
            static_cast<double>(size) <= parameters_.threshold * static_cast<double>(capacity)) {
          continue;
        }
        chosen |= one_node << first;
        count(group, width, 1);
        std::fill(begin, end, pages_per_block);
      }
    }
    return chosen;
  }

  /// Counts `nodes` nodes of `width` blocks that are fetched.
  static void count(const FaultGroup& group, std::uint32_t width, std::uint64_t nodes) {
    if (group.decisions != nullptr)
      (*group.decisions)[static_cast<std::size_t>(std::countr_zero(width))] += nodes;
  }

  const TreeParameters parameters_;
};

}  // namespace

PrefetcherRow tree_prefetcher() {
  return {"tree", "the block, and subtrees that are mostly there (001, section B.3.3)",
          make_prefetcher_as<Tree, TreeParameters>, &schema_of<TreeParameters>()};
}

}  // namespace lockstep
