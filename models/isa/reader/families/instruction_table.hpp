#pragma once

#include <span>
#include <string_view>

#include "models/isa/reader/families/readers.hpp"

namespace lockstep::isa {

/// Entry for the instructions whose PTX opcode has this base (the part before the first dot).
struct InstructionEntry {
  std::string_view name;
  /// Opcode of the operation that the reader function gets; the function may choose another.
  Opcode opcode;
  void (*read)(Readers&, PtxInstruction&);
};

/// Returns all entries, by name.
std::span<const InstructionEntry> instruction_table();

/// Appends the operations of an instruction. Fails on an instruction that is not supported.
void read_instruction(Readers& readers, const Translation& code,
                      const syntax::Statement& statement);

}  // namespace lockstep::isa
