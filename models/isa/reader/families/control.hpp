#pragma once

#include "models/isa/reader/families/family_reader.hpp"
#include "models/isa/reader/families/run_time_calls.hpp"

namespace lockstep::isa {

/// Branches, calls and instructions that end a thread.
class ControlReader : public FamilyReader {
 public:
  ControlReader(Translation& code, OperandReader& operands)
      : FamilyReader(code, operands), run_time_(code, operands) {}
  void branch(PtxInstruction& instruction);
  void branch_indexed(PtxInstruction& instruction);
  void call(PtxInstruction& instruction);
  /// Reads instructions without operands: ret, exit, trap, brkpt.
  void plain(PtxInstruction& instruction);
  void nanosleep(PtxInstruction& instruction);
  void pmevent(PtxInstruction& instruction);
  void grid_dependency(PtxInstruction& instruction);

 private:
  /// Returns the error of a call to a function without a body in this module.
  UserError undefined(const Argument& callee) const;
  void check_callee(const PtxInstruction& instruction, const Argument& callee);

  RunTimeCalls run_time_;
};

}  // namespace lockstep::isa
