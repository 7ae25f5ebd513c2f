#pragma once

#include "core/time/time.hpp"
#include "models/sm/parameters/bandwidth_share.hpp"

namespace lockstep {

/// What a preemption must know of the machine to estimate costs.
struct PreemptionMachine {
  Clock sm_clock{Frequency{1e9}};
  BandwidthShare share;  ///< at which contexts are expected to move
  /// What a block that waits for a page is expected to wait before it can give up its place; zero:
  /// it does not have to, its accesses are squashed.
  Time page_wait = Time::zero();
};

}  // namespace lockstep
