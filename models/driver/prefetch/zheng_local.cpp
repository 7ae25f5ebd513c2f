/// Locality-aware prefetching of an earlier design: 128 consecutive pages (512 KiB) from the
/// faulting page on.
///
/// Source: 001, section B.3.2 (what sequential-local replaces).
///
/// Simplified: the prefetched pages end with the allocation.
#include <algorithm>

#include "models/driver/prefetch/missing_pages.hpp"

namespace lockstep {
namespace {

constexpr std::uint64_t pages_ahead = 128;

class ZhengLocal final : public Prefetcher {
 public:
  void choose(const FaultGroup& group, std::vector<PageRange>& moves) const override {
    ManagedPage done;
    for (const ManagedPage fault : group.faults) {
      const ManagedPage first = std::max(fault, done);
      done = fault + pages_ahead;
      append_missing(group, {first, done - first}, moves);
    }
  }
};

}  // namespace

PrefetcherRow zheng_local_prefetcher() {
  return {"zheng-local512k", "512 KiB from the page on (001, section B.3.2)",
          make_prefetcher_as<ZhengLocal>};
}

}  // namespace lockstep
