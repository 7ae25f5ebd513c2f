/// Draining: an SM gets no new blocks of the less urgent grid; it is free when those that run are
/// done.
///
/// Latency: the rest of the longest of them, without a bound.  Nothing is done twice.
/// Source: preemption.md, section 2 (SM draining); 002, section II; 003, section 2.
#include "models/dispatch/preemption/preemption.hpp"

namespace lockstep {

PreemptionRow preemption_by_draining() {
  return {"drain", "blocks that run on the SM run to their end, no others start",
          [](const PolicyChoice&) -> std::unique_ptr<Preemption> {
            return std::make_unique<Preemption>();
          }};
}

}  // namespace lockstep
