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

namespace {

class Switching final : public Preemption {
 public:
  Needs needs() const override { return {.saves = true}; }
  Technique others() const override { return Technique::save; }
};

}  // namespace

PreemptionRow preemption_by_switching() {
  return {"switch", "blocks stop, their contexts go to memory and come back",
          [](const PolicyChoice&) -> std::unique_ptr<Preemption> {
            return std::make_unique<Switching>();
          }};
}

}  // namespace lockstep
