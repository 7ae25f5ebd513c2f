#pragma once

#include <string>

#include "models/isa/reader/translation/translation.hpp"

namespace lockstep::isa {

/// Makes operands of an operation from those of an instruction, and the operations that some
/// operands need before it.
class OperandReader {
 public:
  explicit OperandReader(Translation& code) : code_(code) {}

  /// Returns a source read as `type`; `wider`: a register may be wider than the type.
  ir::Operand source(const PtxInstruction& instruction, const syntax::Operand& operand, Type type,
                     bool wider = false);
  ir::Operand destination(const PtxInstruction& instruction, const syntax::Operand& operand,
                          Type type, bool wider = false) const;
  ir::Operand predicate(const PtxInstruction& instruction, const syntax::Operand& operand);
  ir::Operand immediate(const PtxInstruction& instruction, const syntax::Operand& operand,
                        Type type) const;
  ir::Operand label(const PtxInstruction& instruction, const syntax::Operand& operand) const;
  /// Returns an argument or result of a call.
  ir::Operand call_operand(const PtxInstruction& instruction, const syntax::Operand& name);
  /// Puts [base + offset] into sources[0] and offset.
  void address(PtxInstruction& instruction, const syntax::Operand& operand);
  void check_width(const PtxInstruction& instruction, const syntax::Operand& operand, Type declared,
                   Type type, bool wider) const;

 private:
  ir::Operand structure_address(const PtxInstruction& instruction, const Symbol& structure,
                                std::int64_t addend);
  ir::Operand read_special(const PtxInstruction& instruction, ir::SpecialRegister special,
                           const std::string& name);
  ir::Operand symbol_operand(const PtxInstruction& instruction, const syntax::Operand& operand,
                             Type type, bool wider) const;
  /// Fails if the operand is -x or x.h1.
  void check_plain(const PtxInstruction& instruction, const syntax::Operand& operand) const;

  Translation& code_;
};

}  // namespace lockstep::isa
