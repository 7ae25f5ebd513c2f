/// Random prefetching: with each faulting page one more page of its large page (2 MiB; at the end
/// of an allocation the smaller tree), drawn uniformly.
///
/// If the drawn page is there or on its way, there is no second draw: no page is prefetched then.
/// Source: 001, section B.3.1.
///
/// Simplified: nothing.
#include <algorithm>

#include "core/random/philox.hpp"
#include "models/driver/prefetch/missing_pages.hpp"
#include "models/driver/tree_layout.hpp"

namespace lockstep {
namespace {

constexpr std::uint32_t prefetch_purpose = 0x70726566;  // "pref"

class RandomPage final : public Prefetcher {
 public:
  void choose(const FaultGroup& group, std::vector<PageRange>& moves) const override {
    std::vector<ManagedPage> pages(group.faults.begin(), group.faults.end());
    for (std::size_t i = 0; i < group.faults.size(); ++i) pages.push_back(draw(group, i));
    std::sort(pages.begin(), pages.end());
    pages.erase(std::unique(pages.begin(), pages.end()), pages.end());
    for (const ManagedPage page : pages) append_missing(group, {page, 1}, moves);
  }

 private:
  static ManagedPage draw(const FaultGroup& group, std::size_t fault) {
    const TreeLayout tree = TreeLayout::around(group.faults[fault], group.allocation);
    const auto words = random_block(group.seed, ComponentId{group.allocation.tenant.value()},
                                    prefetch_purpose, group.number << 16 | fault);
    return tree.first + (words[0] * tree.pages >> 32);
  }
};

}  // namespace

PrefetcherRow random_prefetcher() {
  return {"random", "one more page of the same 2 MiB (001, section B.3.1)",
          make_prefetcher_as<RandomPage>};
}

}  // namespace lockstep
