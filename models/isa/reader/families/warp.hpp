#pragma once

#include "models/isa/reader/families/family_reader.hpp"

namespace lockstep::isa {

/// Shuffles, votes, matches, reductions over a warp, and barriers.
class WarpReader : public FamilyReader {
 public:
  using FamilyReader::FamilyReader;
  void shuffle(PtxInstruction& instruction);
  void vote(PtxInstruction& instruction);
  void activemask(PtxInstruction& instruction);
  void elect(PtxInstruction& instruction);
  void match_or_reduce(PtxInstruction& instruction);
  void barrier(PtxInstruction& instruction);

 private:
  void register_and_predicate(PtxInstruction& instruction, const Argument& to);
};

}  // namespace lockstep::isa
