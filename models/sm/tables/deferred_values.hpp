/// Values with one or two uses are computed when the using instructions issue.
///
/// The computing instruction issues, occupies its unit and commits as usual, but has no effect; the
/// using instructions compute the value first, into rows that all warps of the SM share.  A warp's
/// own rows have mostly left this computer's caches until they are used again, and a 64-bit address
/// takes four cache lines to write and to read. Source: hot-path.md ("what the inner loops can
/// cost").
///
/// Two kinds of values are deferred: addresses, to memory instructions, and special registers that
/// are constant for the life of a warp, to arithmetic.  The instruction must be in the same
/// straight stretch of code as its uses and have no guard, and its sources must keep their values
/// until the last use.  Code that saves a warp's registers between an instruction and the use of
/// its value must save those sources, although Program::live_rows lists the value instead.
#pragma once

#include <vector>

#include "models/isa/program.hpp"

namespace lockstep {

struct DeferredValues {
  /// Instructions of the program, then those that compute deferred values, which no control flow
  /// reaches. The `target` of a memory instruction with a deferred address is the place of the code
  /// that computes the address.
  std::vector<isa::Instruction> instructions;
  std::vector<isa::OperandList> operand_lists;  ///< operand lists of the program
  /// Flag of each pc: a memory instruction computes its address first.
  std::vector<bool> computes_address;
  /// Flag of each pc: the instruction needs the identity of the warp.
  std::vector<bool> reads_special;
};

/// Returns the program unchanged, without deferred values: an instruction that restarts reads its
/// operands from the warp's registers again.
DeferredValues nothing_deferred(const isa::Program& program);

/// `program` may have instructions without effect.
DeferredValues defer_values(const isa::Program& program);

}  // namespace lockstep
