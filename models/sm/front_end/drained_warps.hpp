#pragma once

#include "models/noc/ids.hpp"
#include "models/sm/parameters/sm_cycle.hpp"

namespace lockstep {

/// Receiver of warps that have drained: it takes their slots back.
class DrainedWarps {
 public:
  virtual ~DrainedWarps() = default;
  /// Reports that all threads of the warp have ended, and that all its requests are answered.
  virtual void drained(WarpSlot warp, SmCycle now) = 0;
};

}  // namespace lockstep
