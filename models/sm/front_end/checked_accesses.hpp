#pragma once

#include "models/noc/ids.hpp"
#include "models/sm/parameters/sm_cycle.hpp"

namespace lockstep {

/// Observer of memory instructions until they can fault no more and have committed.
class CheckedAccesses {
 public:
  virtual ~CheckedAccesses() = default;
  /// Reports the last check of an access: of the warp's unreported accesses, the one that was
  /// looked up first.
  virtual void last_check(WarpSlot warp, SmCycle now) = 0;
  /// An access of the warp committed in the cycle before `now`.
  virtual void committed(WarpSlot warp, SmCycle now) = 0;
};

}  // namespace lockstep
