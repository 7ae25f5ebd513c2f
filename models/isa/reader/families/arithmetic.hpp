#pragma once

#include "models/isa/reader/families/family_reader.hpp"

namespace lockstep::isa {

/// Arithmetic, logic, comparison and selection.
class ArithmeticReader : public FamilyReader {
 public:
  using FamilyReader::FamilyReader;
  /// Reads an instruction with one type and the operands in the opcode table.
  void alu(PtxInstruction& instruction);
  void comparison(PtxInstruction& instruction);  ///< set, setp
  void selection(PtxInstruction& instruction);   ///< selp, slct
  void logic3(PtxInstruction& instruction);

 private:
  void alu_operand(PtxInstruction& instruction, std::size_t index, char letter);
};

}  // namespace lockstep::isa
