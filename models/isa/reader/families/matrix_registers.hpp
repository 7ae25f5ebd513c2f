#pragma once

#include <vector>

#include "models/isa/reader/families/family_reader.hpp"

namespace lockstep::isa {

/// Readers whose instructions name the registers of matrices in braces.
class MatrixRegisterReader : public FamilyReader {
 public:
  using FamilyReader::FamilyReader;

 protected:
  /// Returns the registers of an argument, of which there must be `count`; `what`: name of the
  /// argument in the message if there are not.
  std::vector<ir::Operand> registers(PtxInstruction& instruction, const Argument& written,
                                     unsigned count, Type type, bool destination, const char* what);
};

}  // namespace lockstep::isa
