#pragma once

#include "models/isa/reader/families/family_reader.hpp"

namespace lockstep::isa {

class MbarrierReader : public FamilyReader {
 public:
  using FamilyReader::FamilyReader;
  void mbarrier(PtxInstruction& instruction);

 private:
  void init(PtxInstruction& instruction);
  void invalidate(PtxInstruction& instruction);
  void arrive(PtxInstruction& instruction, bool drops);
  void wait(PtxInstruction& instruction);
  void pending_count(PtxInstruction& instruction);
  ir::Operand counts(PtxInstruction& instruction, std::size_t which, bool twice);
  /// The named state space; nothing but .cta scope and the release or acquire that is the rule.
  void qualifiers(PtxInstruction& instruction);
};

}  // namespace lockstep::isa
