/// Flushing: an SM's blocks that can be repeated are dropped, and start again later; others run to
/// their end.
///
/// Latency: until the requests of a dropped block are answered.  All that it has done is done
/// twice.  When a block can be repeated: isa/encode/idempotence.hpp.
/// Source: 003, section 4.1 (flushing of Chimera, the relaxed condition); preemption.md, sections 2
/// and 2.2.
#include "models/dispatch/preemption/preemption.hpp"

namespace lockstep {

namespace {

class Flushing final : public Preemption {
 public:
  Needs needs() const override { return {.follows = true}; }
  Technique others() const override { return Technique::flush; }
};

}  // namespace

PreemptionRow preemption_by_flushing() {
  return {"flush", "blocks that can be repeated are dropped and start again, others drain",
          [](const PolicyChoice&) -> std::unique_ptr<Preemption> {
            return std::make_unique<Flushing>();
          }};
}

}  // namespace lockstep
