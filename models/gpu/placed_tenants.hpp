#pragma once

#include <cstdint>
#include <vector>

#include "models/gpu/machine_parameters.hpp"
#include "models/workload/scenario.hpp"

namespace lockstep {

/// Returns the number of the GPU on which each tenant runs: the one that it names, or the one that
/// policies.placement chooses.
std::vector<std::uint32_t> place_tenants(const Scenario& scenario,
                                         const MachineParameters& machine);

}  // namespace lockstep
