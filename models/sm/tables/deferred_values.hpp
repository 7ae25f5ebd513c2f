/// Values that one or two instructions use are computed when those issue.
///
/// What computes such a value issues, occupies its unit and commits like any instruction, but has
/// no effect; the instructions that use it compute it first, into rows that all warps of the SM
/// share.  A warp's own rows have mostly left this computer's caches until they are used again, and
/// a 64-bit address takes four cache lines to write and to read. Source: hot-path.md ("what the
/// inner loops can cost").
///
/// Deferred are addresses, to memory instructions, and special registers that do not change while a
/// warp lives, to arithmetic; only if they stand in the same straight stretch of code as their
/// uses, have no guard, and their sources keep their values until the last use.  What saves a
/// warp's registers between an instruction and the use of its value must save those sources, though
/// Program::live_rows has the value in their place.
#pragma once

#include <vector>

#include "models/isa/program.hpp"

namespace lockstep {

struct DeferredValues {
  /// The program's own instructions, then those that compute deferred values, which no control flow
  /// reaches. The `target` of a memory instruction with a deferred address is the place of the code
  /// that computes it.
  std::vector<isa::Instruction> instructions;
  std::vector<isa::OperandList> operand_lists;  ///< operand lists of the program
  /// Flag of each pc: a memory instruction computes its address first.
  std::vector<bool> computes_address;
  /// Flag of each pc: the instruction needs the identity of the warp.
  std::vector<bool> reads_special;
};

/// Returns the program unchanged, with nothing deferred: an instruction that restarts reads its
/// operands from the warp's registers again.
DeferredValues nothing_deferred(const isa::Program& program);

/// `program` may have instructions without effect.
DeferredValues defer_values(const isa::Program& program);

}  // namespace lockstep
