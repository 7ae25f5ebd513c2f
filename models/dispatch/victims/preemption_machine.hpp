#pragma once

#include "core/time/time.hpp"
#include "models/sm/parameters/bandwidth_share.hpp"

namespace lockstep {

/// Facts about the machine from which a preemption estimates costs.
struct PreemptionMachine {
  Clock sm_clock{Frequency{1e9}};
  BandwidthShare share;  ///< bandwidth share at which contexts are expected to move
  /// Expected time until a block that waits for a page can give up its place; zero: at once,
  /// because its accesses are squashed.
  Time page_wait = Time::zero();
};

}  // namespace lockstep
