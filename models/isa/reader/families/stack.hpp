#pragma once

#include "models/isa/reader/families/family_reader.hpp"

namespace lockstep::isa {

class StackReader : public FamilyReader {
 public:
  using FamilyReader::FamilyReader;
  void allocate(PtxInstruction& instruction);  ///< alloca
  void save(PtxInstruction& instruction);
  void restore(PtxInstruction& instruction);

  /// Lets a device function that allocates remember the end of the stack, and restore it on return.
  /// `header`: statement at the function's place.
  void remember(const PtxInstruction& header);
  void give_back(const PtxInstruction& instruction);

 private:
  Type type_of(PtxInstruction& instruction) const;
  ir::Operand stack_end(const PtxInstruction& instruction);
  void set_stack_end(const PtxInstruction& instruction, const ir::Operand& end);

  std::uint32_t remembered_ = ir::no_register;
};

}  // namespace lockstep::isa
