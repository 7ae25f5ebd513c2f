/// Switching: an SM's blocks stop at once, their contexts - all registers and all shared memory
/// that they occupy - go through GPU memory, and they return when the more urgent grid has left the
/// SM.
///
/// Latency: until nothing of a block is in flight, then its context over the SM's share of memory
/// bandwidth, one block after the other.
/// Source: preemption.md, section 2 (switch, "Occup"); 002, section II.
///
/// Simplified: a block returns to the SM that it left.
#include "models/dispatch/preemption/preemption.hpp"

namespace lockstep {

PreemptionRow preemption_by_switching() {
  return {"switch", "blocks stop, their contexts go to memory and come back", Technique::save};
}

}  // namespace lockstep
