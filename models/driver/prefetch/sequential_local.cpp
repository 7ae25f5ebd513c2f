/// Sequential-local prefetching: the whole 64 KiB block of a faulting page.
///
/// Source: 001, section B.3.2.
///
/// Simplified: nothing.
#include "models/driver/prefetch/missing_pages.hpp"
#include "models/vm/page_table_entry.hpp"

namespace lockstep {
namespace {

class SequentialLocal final : public Prefetcher {
 public:
  void choose(const FaultGroup& group, std::vector<PageRange>& moves) const override {
    ManagedPage done;
    for (const ManagedPage fault : group.faults) {
      if (fault < done) continue;  // the fault is in the same block as the one before
      const ManagedPage block = fault.rounded_down(pages_per_block);
      done = block + pages_per_block;
      append_missing(group, {block, pages_per_block}, moves);
    }
  }
};

}  // namespace

PrefetcherRow sequential_local_prefetcher() {
  return {"sequential-local", "the block of 64 KiB (001, section B.3.2)",
          make_prefetcher_as<SequentialLocal>};
}

}  // namespace lockstep
