#pragma once

#include "models/isa/matrix/warpgroup_form.hpp"
#include "models/isa/reader/families/matrix_registers.hpp"

namespace lockstep::isa {

/// Products of warp groups (wgmma), and registers that warps pass to each other (setmaxnreg).
class WarpgroupReader : public MatrixRegisterReader {
 public:
  using MatrixRegisterReader::MatrixRegisterReader;
  void wgmma(PtxInstruction& instruction);
  void set_registers(PtxInstruction& instruction);

 private:
  void product(PtxInstruction& instruction);
  void step(PtxInstruction& instruction, ir::WarpgroupStep step);
  WarpgroupForm form_of(PtxInstruction& instruction);
  /// Reads the arguments behind scale-d: signs and layouts.
  void signs_and_layouts(PtxInstruction& instruction, WarpgroupForm& form);
  ir::Operand descriptor(PtxInstruction& instruction, const Argument& argument);
  /// Returns 1 or 0 in a register or as an immediate.
  ir::Operand scale_of_d(PtxInstruction& instruction, const Argument& argument);
  /// Returns true if an argument is `set`, and false if it is `not_set`; `what`: name of the
  /// argument in the message if it is neither.
  bool flag(PtxInstruction& instruction, std::size_t argument, std::int32_t set,
            std::int32_t not_set, const char* what);
};

}  // namespace lockstep::isa
