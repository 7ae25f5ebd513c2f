#pragma once

#include <cstdint>
#include <vector>

#include "models/isa/program.hpp"

namespace lockstep::isa {

/// Returns the possible successors of each instruction.  A call leads both to the next instruction
/// and into the callee, so that the callers' rows stay live in it.
std::vector<std::vector<std::uint32_t>> successors(const Program& program);

}  // namespace lockstep::isa
