#pragma once

#include "models/isa/reader/families/family_reader.hpp"

namespace lockstep::isa {

/// mov of registers, constants, vectors and registers of 128 bits.
class MoveReader : public FamilyReader {
 public:
  using FamilyReader::FamilyReader;
  void move(PtxInstruction& instruction);

 private:
  void move_value(PtxInstruction& instruction);
  void move_b128(PtxInstruction& instruction);
};

}  // namespace lockstep::isa
