/// Registers that hold a copy of an immediate or of a kernel's constant are not read: the
/// instruction reads the original.
///
/// Machine code has such copies because an instruction takes few operands besides registers. A
/// warp's own rows have mostly left this computer's caches before their next use; immediates and
/// constants are shared by all warps and stay there. Source: hot-path.md ("what the inner loops can
/// cost").
#pragma once

#include "models/isa/program.hpp"

namespace lockstep {

/// Rewrites sources of arithmetic and memory instructions, and Program::live_rows. Copies without
/// readers lose their effect. Program::needs, which decides when an instruction issues, stays.
void forward_copies(isa::Program& program);

}  // namespace lockstep
