#pragma once

#include "models/gpu/machine_parameters.hpp"

namespace lockstep {

/// Refuses tenants whose buffers host memory cannot hold, a GPU memory that does not divide into
/// the page manager's pages or of which foreign pages leave too little, and one that a policy of
/// its partitions cannot work with.  Throws UserError.
void check_memory(const Scenario& scenario, const MachineParameters& parameters);

}  // namespace lockstep
