/// No preemption: a grid waits until the grid before it has ended, however urgent it is.
#include "models/dispatch/preemption/preemption.hpp"

namespace lockstep {

namespace {

class NoPreemption final : public Preemption {
 public:
  PreemptionSteps steps() const override { return {}; }
};

}  // namespace

PreemptionRow no_preemption() {
  return {"none", "a grid waits until the one before it has ended",
          [](const PolicyChoice&) -> std::unique_ptr<Preemption> {
            return std::make_unique<NoPreemption>();
          }};
}

}  // namespace lockstep
