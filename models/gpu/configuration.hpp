#pragma once

#include <string>

#include "models/gpu/machine_parameters.hpp"

namespace lockstep {

/// The fully resolved scenario as YAML text, for /config: every parameter with its unit, every
/// tenant with its workload's parameters and buffers.  Holds no paths, ranks or threads.
std::string configuration_text(const Scenario& scenario, const MachineParameters& machine);

}  // namespace lockstep
