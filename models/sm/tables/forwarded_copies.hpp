/// Registers that hold a copy of an immediate or of a kernel's constant are read where that stands.
///
/// Machine code has such copies because an instruction takes few operands that are no registers.
/// A warp's own rows have mostly left this computer's caches until they are used again; immediates
/// and constants are the same for all warps, and near. Source: hot-path.md ("what the inner loops
/// can cost").
#pragma once

#include "models/isa/program.hpp"

namespace lockstep {

/// Rewrites sources of arithmetic and memory instructions, and Program::live_rows. Copies that are
/// no longer read lose their effect. Program::needs, on which an instruction waits, stays.
void forward_copies(isa::Program& program);

}  // namespace lockstep
