#pragma once

#include "models/gpu/machine_parameters.hpp"

namespace lockstep {

/// Returns the unit in bytes of which GPU memory, and the part of it left for buffers, are
/// multiples: the page manager divides them into such units.
std::uint64_t capacity_unit(const MachineParameters& parameters);

/// Refuses a GPU memory that does not divide into the page manager's pages or of which foreign
/// pages leave too little, and one that a policy of its partitions cannot work with.  Throws
/// UserError.
void check_memory(const Scenario& scenario, const MachineParameters& parameters);
/// Refuses tenants whose buffers, on all GPUs, host memory cannot hold.  Throws UserError.
void check_host_memory(const Scenario& scenario, const HostParameters& host);

}  // namespace lockstep
