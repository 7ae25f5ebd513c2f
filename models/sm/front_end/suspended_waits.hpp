#pragma once

#include "models/noc/ids.hpp"
#include "models/sm/parameters/sm_cycle.hpp"

namespace lockstep {

/// Keeper of the waits of warps at barriers of mbarrier, and of the arrivals that they owe.
class SuspendedWaits {
 public:
  virtual ~SuspendedWaits() = default;
  /// Copies of the warp may be through behind which it arrives.
  virtual void copies_came(WarpSlot warp, SmCycle now) = 0;
  /// A path of the warp may have waited for as long as it may.
  virtual void limit_came(WarpSlot warp, SmCycle now) = 0;
  /// Forgets what the warp owes, because its block has ended.
  virtual void forget(WarpSlot warp) = 0;
};

}  // namespace lockstep
