#pragma once

#include "core/time/clock_cycle.hpp"

namespace lockstep {

/// A cycle of the SMs' clock; spans are plain counts.
using SmCycle = ClockCycle<struct SmCycleTag>;

/// Later than every cycle: nothing is going to happen.
inline constexpr SmCycle no_cycle = SmCycle::never();

}  // namespace lockstep
