#pragma once

#include <span>
#include <string_view>

#include "models/isa/reader/families/readers.hpp"

namespace lockstep::isa {

/// What reads the instructions whose PTX opcode has this base (what stands before the first dot).
struct InstructionEntry {
  std::string_view name;
  Opcode opcode;  ///< of the operation that the reader function gets; it may choose another
  void (*read)(Readers&, PtxInstruction&);
};

/// All of them, by name.
std::span<const InstructionEntry> instruction_table();

/// Appends what becomes of an instruction; fails on one that is not supported.
void read_instruction(Readers& readers, const Translation& code,
                      const syntax::Statement& statement);

}  // namespace lockstep::isa
