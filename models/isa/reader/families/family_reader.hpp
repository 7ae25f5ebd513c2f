#pragma once

#include "models/isa/reader/translation/operands.hpp"

namespace lockstep::isa {

/// Base of the readers of all instruction families.  A reader function gets an instruction whose
/// operation has its opcode and guard, completes the operation and appends it.
class FamilyReader {
 public:
  FamilyReader(Translation& code, OperandReader& operands) : code_(code), operands_(operands) {}

 protected:
  using Argument = syntax::Operand;
  using Kind = ir::Operand::Kind;

  Translation& code_;
  OperandReader& operands_;
};

}  // namespace lockstep::isa
