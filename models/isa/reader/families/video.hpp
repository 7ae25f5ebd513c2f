#pragma once

#include <vector>

#include "models/isa/reader/families/family_reader.hpp"
#include "models/isa/semantics/modes.hpp"

namespace lockstep::isa {

/// vadd, vadd2, vadd4 and the like, and integer arithmetic on pairs of halves.
class VideoReader : public FamilyReader {
 public:
  using FamilyReader::FamilyReader;
  void video(PtxInstruction& instruction);
  /// Reads add, sub, min, max of .u16x2 and .s16x2.  Returns false for another type.
  bool packed_integers(PtxInstruction& instruction);

 private:
  std::uint32_t modifiers_of(PtxInstruction& instruction, VideoOperation operation);
  void scalar(PtxInstruction& instruction, VideoOperation which);
  void simd(PtxInstruction& instruction, VideoOperation which, unsigned parts);
  std::vector<unsigned> selected_parts(const PtxInstruction& instruction, const Argument& written,
                                       unsigned parts, unsigned limit) const;
  ir::Operand selected(PtxInstruction& instruction, std::size_t which, unsigned parts);
};

}  // namespace lockstep::isa
