#pragma once

#include "models/noc/ids.hpp"
#include "models/sm/parameters/sm_cycle.hpp"

namespace lockstep {

/// Follower of memory instructions until they can fault no more and have committed.
class CheckedAccesses {
 public:
  virtual ~CheckedAccesses() = default;
  /// Among the warp's accesses not yet told, the one that was looked up first is through its last
  /// check.
  virtual void last_check(WarpSlot warp, SmCycle now) = 0;
  /// An access of the warp committed in the cycle before `now`.
  virtual void committed(WarpSlot warp, SmCycle now) = 0;
};

}  // namespace lockstep
