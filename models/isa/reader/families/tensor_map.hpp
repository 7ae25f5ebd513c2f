#pragma once

#include <cstdint>

#include "models/isa/bulk/tensor_map.hpp"
#include "models/isa/reader/families/family_reader.hpp"

namespace lockstep::isa {

/// tensormap: programs that change their tensor maps.
class TensorMapReader : public FamilyReader {
 public:
  using FamilyReader::FamilyReader;
  void tensormap(PtxInstruction& instruction);

 private:
  /// Place of a map.
  struct Place {
    Space space = Space::generic;
    ir::Operand base;
    std::int64_t offset = 0;
  };

  void replace(PtxInstruction& instruction);
  void copy(PtxInstruction& instruction);
  Place place(PtxInstruction& instruction, const Argument& argument, Space space);
  /// Returns the dimension that the second operand names, of those from `first` on.
  unsigned dimension(PtxInstruction& instruction, unsigned first);
  /// Replaces a field with few values; the last operand gives the value as a constant.
  void replace_choice(PtxInstruction& instruction, const Place& map);
  void write(PtxInstruction& instruction, const Place& map, const TensorMapField& field,
             const ir::Operand& value);
  ir::Operand load(PtxInstruction& instruction, const Place& from, Type type, std::int64_t offset);
  void store(PtxInstruction& instruction, const Place& to, Type type, std::int64_t offset,
             const ir::Operand& value);
};

}  // namespace lockstep::isa
