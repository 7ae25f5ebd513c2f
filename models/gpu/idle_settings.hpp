#pragma once

#include <string>
#include <vector>

#include "models/gpu/machine_parameters.hpp"

namespace lockstep {

/// Returns a line for each key that a user has written and that does nothing beside the values of
/// other keys (ParametersOf::only_if).
///
/// A file of a GPU or a host describes hardware, of which a scenario may switch parts off: what
/// does something in the file by itself is not mentioned.
std::vector<std::string> notes_of_idle_settings(const Scenario& scenario);

}  // namespace lockstep
