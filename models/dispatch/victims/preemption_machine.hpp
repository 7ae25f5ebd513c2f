#pragma once

#include "core/time/time.hpp"
#include "models/sm/parameters/bandwidth_share.hpp"

namespace lockstep {

/// Facts about the machine from which a preemption estimates costs.
struct PreemptionMachine {
  Clock sm_clock{Frequency{1e9}};
  BandwidthShare share;  ///< bandwidth share at which contexts are expected to move
  /// Time that a block which waits for a page is expected to wait before it can give up its place;
  /// zero: it does not have to wait, its accesses are squashed.
  Time page_wait = Time::zero();
};

}  // namespace lockstep
