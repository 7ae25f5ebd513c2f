#pragma once

#include <vector>

#include "models/isa/reader/families/family_reader.hpp"

namespace lockstep::isa {

/// Readers whose instructions name the registers of matrices in braces.
class MatrixRegisterReader : public FamilyReader {
 public:
  using FamilyReader::FamilyReader;

 protected:
  /// Returns the registers of an argument that must have `count` of them; `what` the argument is,
  /// for the message if it has not.
  std::vector<ir::Operand> registers(PtxInstruction& instruction, const Argument& written,
                                     unsigned count, Type type, bool destination, const char* what);
};

}  // namespace lockstep::isa
