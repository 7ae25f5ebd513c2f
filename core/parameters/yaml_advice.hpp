#pragma once

#include <string>

namespace lockstep {

/// Returns what the YAML parser expected when it failed with `message`, and advice.
std::string yaml_advice(const std::string& message);

}  // namespace lockstep
