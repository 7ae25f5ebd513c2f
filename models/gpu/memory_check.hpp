#pragma once

#include "models/gpu/machine_parameters.hpp"

namespace lockstep {

/// Returns the unit in bytes into which the page manager divides GPU memory and the part left for
/// buffers; both must be multiples.
std::uint64_t capacity_unit(const MachineParameters& parameters);

/// Refuses a GPU memory that the page manager's pages do not divide, of which foreign pages leave
/// too little, or with which a policy of its partitions cannot work.  Throws UserError.
void check_memory(const Scenario& scenario, const MachineParameters& parameters);
/// Refuses tenants whose buffers, on all GPUs together, do not fit into host memory.  Throws
/// UserError.
void check_host_memory(const Scenario& scenario, const HostParameters& host);

}  // namespace lockstep
