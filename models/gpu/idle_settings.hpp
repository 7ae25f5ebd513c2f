#pragma once

#include <string>
#include <vector>

#include "models/gpu/machine_parameters.hpp"

namespace lockstep {

/// Returns a line for each key that a user has written and that has no effect beside the values of
/// other keys (ParametersOf::only_if).
///
/// A file of a GPU or a host describes hardware, parts of which a scenario may switch off: keys
/// with an effect in the file alone are not mentioned.
std::vector<std::string> notes_of_idle_settings(const Scenario& scenario);

}  // namespace lockstep
