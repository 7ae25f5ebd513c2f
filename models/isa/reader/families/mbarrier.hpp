#pragma once

#include "models/isa/barriers/mbarrier.hpp"
#include "models/isa/reader/families/family_reader.hpp"

namespace lockstep::isa {

class MbarrierReader : public FamilyReader {
 public:
  using FamilyReader::FamilyReader;
  void mbarrier(PtxInstruction& instruction);

 private:
  /// Reads init, inval, expect_tx and complete_tx: bytes that copies bring are expected, or come.
  void change(PtxInstruction& instruction, AtomicOperation atomic);
  void arrive(PtxInstruction& instruction, bool drops);
  void wait(PtxInstruction& instruction, PhaseWaitMode mode);
  void pending_count(PtxInstruction& instruction);
  ir::Operand count(PtxInstruction& instruction, std::size_t which);
  /// Returns the operand with the bytes of transactions.
  ir::Operand bytes(PtxInstruction& instruction, std::size_t which);
  ir::Operand widened(PtxInstruction& instruction, const ir::Operand& count);
  ir::Operand parity_of(PtxInstruction& instruction, const ir::Operand& state);
  /// Reads the named state space, and the scope .cta or .cluster.
  void qualifiers(PtxInstruction& instruction);
  void refuse_remote(const PtxInstruction& instruction) const;
  /// Returns the ordering of an operation whose qualifiers are read, `otherwise` being the rule.
  static Ordering ordering_of(const ir::Operation& operation, Ordering otherwise);
};

}  // namespace lockstep::isa
