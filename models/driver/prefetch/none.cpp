/// Pure demand paging: only pages that faulted migrate.
///
/// Source: 001, section B.3.
///
/// Simplified: nothing.
#include "models/driver/prefetch/missing_pages.hpp"

namespace lockstep {
namespace {

class None final : public Prefetcher {
 public:
  void choose(const FaultGroup& group, std::vector<PageRange>& moves) const override {
    for (const ManagedPage page : group.faults) append_missing(group, {page, 1}, moves);
  }
};

}  // namespace

PrefetcherRow no_prefetcher() {
  return {"none", "only what faulted", make_prefetcher_as<None>};
}

}  // namespace lockstep
