/// No preemption: a grid waits until the one before it has ended, however urgent it is.
#include "models/dispatch/preemption/preemption.hpp"

namespace lockstep {

PreemptionRow no_preemption() {
  return {"none", "a grid waits until the one before it has ended", Technique::wait};
}

}  // namespace lockstep
