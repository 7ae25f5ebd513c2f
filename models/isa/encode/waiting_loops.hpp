/// Loops whose end depends on another thread's writes: spin locks, polled flags.
///
/// A loop is the range of instructions between a backward branch and its target.  Its end depends
/// on other threads when a branch that leaves it, or the backward branch, is guarded by a value
/// that the loop reads from shared or global memory, or that it writes on a path chosen by such a
/// value.  An unconditional one of these branches counts as well when such a value sends lanes to
/// it or past it. Results of a called function count as read if the function reads.  Reads by
/// atomics and by strong loads (volatile, relaxed, acquire) are told from weak loads: a compiler
/// may move a weak load out of a waiting loop, so that weak loads mark ordinary loops. Source:
/// models/isa/divergence.hpp, "Forward progress"; PTX ISA 8.x, "Memory Consistency Model".
#pragma once

#include "models/isa/program.hpp"

namespace lockstep::isa {

/// Sets flag_decides_wait and flag_strong_wait on the branches of such loops.
void find_waiting_loops(Program& program);

}  // namespace lockstep::isa
