#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/isa/program.hpp"

namespace lockstep::isa {

/// Returns, by pc, the rows that a divergent warp may need again when it stops at a preemption
/// point there.  Returns an empty list if paths can wait in the middle of an arm, for a barrier,
/// other lanes or a call: then more rows may be needed.  Computed from Program::live_rows.
std::vector<std::array<std::uint64_t, 4>> divergent_rows(const Program& program);

}  // namespace lockstep::isa
