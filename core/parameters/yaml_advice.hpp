#pragma once

#include <string>

namespace lockstep {

/// Returns what the YAML parser expected where it fails with `message`, and what to do.
std::string yaml_advice(const std::string& message);

}  // namespace lockstep
