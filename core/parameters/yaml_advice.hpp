#pragma once

#include <string>

namespace lockstep {

/// Returns what the YAML parser expected, and what to do, where it fails with `message`.
std::string yaml_advice(const std::string& message);

}  // namespace lockstep
