#pragma once

#include <cstdint>
#include <vector>

#include "models/isa/program.hpp"

namespace lockstep::isa {

/// Returns where control may go from each instruction; a call goes both on and into the callee, so
/// that the callers' rows stay live below.
std::vector<std::vector<std::uint32_t>> successors(const Program& program);

}  // namespace lockstep::isa
