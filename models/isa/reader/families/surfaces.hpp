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
  };
  struct Shape {
    unsigned dimensions = 1;
    bool layered = false;
    bool has_slices() const { return dimensions == 3 || layered; }
  };
  Outside read_modifiers(PtxInstruction& instruction);
  Access locate(const PtxInstruction& instruction, const Argument& place, Outside outside);
  ir::Operand row_of(const PtxInstruction& instruction, const Header& header,
                     const std::vector<Argument>& given, Outside outside);

  Shape shape_;  ///< shape of the instruction being read
};

}  // namespace lockstep::isa
