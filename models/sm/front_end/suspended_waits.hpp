#pragma once

#include "models/noc/ids.hpp"
#include "models/sm/parameters/sm_cycle.hpp"

namespace lockstep {

/// Keeper of the waits of warps at mbarriers, and of the arrivals that they owe.
class SuspendedWaits {
 public:
  virtual ~SuspendedWaits() = default;
  /// Notes that copies of the warp, behind which it arrives, may be done.
  virtual void copies_came(WarpSlot warp, SmCycle now) = 0;
  /// Notes that a path of the warp may have waited up to its time limit.
  virtual void limit_came(WarpSlot warp, SmCycle now) = 0;
  /// Forgets what the warp owes, because its block has ended.
  virtual void forget(WarpSlot warp) = 0;
};

}  // namespace lockstep
