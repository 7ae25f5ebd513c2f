#pragma once

#include "models/isa/reader/families/family_reader.hpp"

namespace lockstep::isa {

class ConversionReader : public FamilyReader {
 public:
  using FamilyReader::FamilyReader;
  void convert(PtxInstruction& instruction);
  void convert_address(PtxInstruction& instruction);  ///< cvta, isspacep

 private:
  void convert_fp8(PtxInstruction& instruction);
};

}  // namespace lockstep::isa
