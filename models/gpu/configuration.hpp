#pragma once

#include <string>

#include "models/gpu/machine_parameters.hpp"

namespace lockstep {

/// Returns the fully resolved scenario as YAML text, for /config: every parameter with its unit,
/// every tenant with its workload's parameters and buffers, without paths, ranks or threads.  The
/// machine is the text of to_yaml(); with several GPUs, a list.
std::string machine_text(const MachineParameters& machine);
std::string configuration_text(const Scenario& scenario, const MachineParameters& machine);

}  // namespace lockstep
