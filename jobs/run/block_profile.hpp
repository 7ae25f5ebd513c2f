#pragma once

#include <string>

#include "models/dispatch/victims/block_profile.hpp"
#include "models/gpu/machine_parameters.hpp"
#include "models/workload/scenario.hpp"

namespace lockstep {

/// Returns the output of the earlier run that the preemption uses; "": none.
std::string profile_of_blocks(const Scenario& scenario);

/// Returns the plan of techniques that the preemption follows; "": none.
std::string plan_of_blocks(const Scenario& scenario);

/// Returns how long the blocks of that run ran, or the plan.  Throws UserError if it was one of
/// another scenario - anything but preemption, bounds, simulation times and recording - or was
/// preempted itself, or does not say.
BlockProfile read_block_profile(const Scenario& scenario, const MachineParameters& parameters);

}  // namespace lockstep
