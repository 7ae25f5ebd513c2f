/// Loops whose end depends on what another thread may write: spin locks, polled flags.
///
/// A loop is the range of instructions between a backward branch and its target.  Its end depends
/// on other threads when a branch that leaves it, or the backward branch, is guarded by a value
/// that the loop reads from memory of other threads, or that the loop writes where such a value
/// sends it, or when such a value sends lanes to or past an unconditional one of these branches.
/// The results of a called function do if it reads.  Reads by atomics and by strong loads
/// (volatile, relaxed, acquire) are told from weak loads: a compiler may take a weak load out of
/// the loop, so that ordinary loops have those. Source: models/isa/divergence.hpp, "Forward
/// progress"; PTX ISA 8.x, "Memory Consistency Model".
#pragma once

#include "models/isa/program.hpp"

namespace lockstep::isa {

/// Sets flag_decides_wait and flag_strong_wait on the branches of such loops.
void find_waiting_loops(Program& program);

}  // namespace lockstep::isa
