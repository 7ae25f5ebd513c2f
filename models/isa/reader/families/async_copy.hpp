#pragma once

#include <string>

#include "models/isa/reader/families/bulk_copy.hpp"
#include "models/isa/reader/families/family_reader.hpp"

namespace lockstep::isa {

/// Returns the address in shared memory as a 32-bit source.
ir::Operand shared_address(Translation& code, OperandReader& operands, PtxInstruction& instruction,
                           const syntax::Operand& argument);

/// Ends a step of groups of copies.  `names_groups`: the step waits, and its argument says how many
/// of the newest groups may be under way, `most` at most.
void finish_group_step(Translation& code, OperandReader& operands, PtxInstruction& instruction,
                       bool names_groups, const std::string& name, std::uint32_t most = 0xffff);

/// cp.async: copies from global to shared memory for which a thread need not wait at once.
class AsyncCopyReader : public FamilyReader {
 public:
  using FamilyReader::FamilyReader;
  void cp(PtxInstruction& instruction);

 private:
  void copy(PtxInstruction& instruction);
  /// Returns how many bytes of each copy are read; kind none: all.
  ir::Operand source_bytes(PtxInstruction& instruction, const Argument& argument, unsigned bytes);
  void group(PtxInstruction& instruction, ir::CopyGroupStep step);
  void arrive(PtxInstruction& instruction);

  BulkCopyReader bulk_{code_, operands_};
};

}  // namespace lockstep::isa
