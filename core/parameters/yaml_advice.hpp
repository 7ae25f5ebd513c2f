#pragma once

#include <string>

namespace lockstep {

/// What was expected, and what to do, where the YAML parser fails with `message`.
std::string yaml_advice(const std::string& message);

}  // namespace lockstep
