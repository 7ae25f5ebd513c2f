#pragma once

#include "models/isa/reader/families/textures.hpp"

namespace lockstep::isa {

/// suld.b and sust.b.
class SurfaceReader : public TexelReader {
 public:
  using TexelReader::TexelReader;
  void load(PtxInstruction& instruction);
  void store(PtxInstruction& instruction);

 private:
  enum class Outside { trap, clamp, zero };
  struct Access {
    ir::Operand address, inside;
    Outside outside = Outside::trap;
  };
  Outside read_modifiers(PtxInstruction& instruction);
  Access locate(const PtxInstruction& instruction, const Argument& place, Outside outside);
  unsigned dimensions_ = 1;
};

}  // namespace lockstep::isa
