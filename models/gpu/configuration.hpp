#pragma once

#include <string>

#include "models/gpu/machine_parameters.hpp"

namespace lockstep {

/// The fully resolved scenario as YAML text, for /config: every parameter with its unit, every
/// tenant with its workload's parameters and buffers.  Holds no paths, ranks or threads.
/// Returns what to_yaml() says of the machine; of several GPUs a list.
std::string machine_text(const MachineParameters& machine);
std::string configuration_text(const Scenario& scenario, const MachineParameters& machine);

}  // namespace lockstep
