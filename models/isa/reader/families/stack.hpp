#pragma once

#include "models/isa/reader/families/family_reader.hpp"

namespace lockstep::isa {

class StackReader : public FamilyReader {
 public:
  using FamilyReader::FamilyReader;
  void allocate(PtxInstruction& instruction);  ///< alloca
  void save(PtxInstruction& instruction);
  void restore(PtxInstruction& instruction);

  /// A device function that allocates remembers where the stack ended, and ends it there again
  /// when it returns.  `header` stands where the function does.
  void remember(const PtxInstruction& header);
  void give_back(const PtxInstruction& instruction);

 private:
  Type type_of(PtxInstruction& instruction) const;
  ir::Operand stack_end(const PtxInstruction& instruction);
  void set_stack_end(const PtxInstruction& instruction, const ir::Operand& end);

  std::uint32_t remembered_ = ir::no_register;
};

}  // namespace lockstep::isa
