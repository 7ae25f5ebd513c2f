#pragma once

#include <cstdint>
#include <vector>

#include "models/gpu/machine_parameters.hpp"
#include "models/workload/scenario.hpp"

namespace lockstep {

/// Returns the number of each tenant's GPU: the one that the tenant names, or the one that
/// policies.placement chooses.
std::vector<std::uint32_t> place_tenants(const Scenario& scenario,
                                         const MachineParameters& machine);

}  // namespace lockstep
