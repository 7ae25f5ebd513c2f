#pragma once

#include "models/dispatch/occupancy.hpp"
#include "models/host/workload.hpp"
#include "models/isa/program.hpp"

namespace lockstep {

/// Checks before the run that a block of every launch fits an SM, with loop counters at their first
/// value.  Throws UserError at the launch.
void check_launches(const Workload& workload, const isa::Module& module,
                    const OccupancyLimits& limits);

}  // namespace lockstep
