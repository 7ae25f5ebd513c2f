#pragma once

#include "models/isa/reader/families/family_reader.hpp"

namespace lockstep::isa {

/// cp.async.bulk: copies of many bytes that one thread begins and no thread waits for at once.
class BulkCopyReader : public FamilyReader {
 public:
  using FamilyReader::FamilyReader;
  /// Precondition: the modifiers async and bulk are taken.
  void copy(PtxInstruction& instruction);

 private:
  void load(PtxInstruction& instruction);
  void store(PtxInstruction& instruction);
  void prefetch(PtxInstruction& instruction);
  void group(PtxInstruction& instruction, ir::BulkGroupStep step);
  /// Requires so many arguments, and the policy that a hint names.
  void expect(PtxInstruction& instruction, std::size_t arguments, std::size_t hints);
  /// Makes the operation: its sources are the global address, places() and the bytes of `count`.
  void finish(PtxInstruction& instruction, ir::BulkCopyStep step, const Argument& global,
              const ir::Operand& places, const Argument& count);
  /// Two shared addresses as one source of 64 bits.
  ir::Operand places(PtxInstruction& instruction, const ir::Operand& low, const ir::Operand& high);
  ir::Operand bytes(PtxInstruction& instruction, const Argument& argument);
};

}  // namespace lockstep::isa
