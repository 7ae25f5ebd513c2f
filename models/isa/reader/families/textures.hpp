#pragma once

#include <optional>
#include <span>
#include <vector>

#include "models/isa/reader/families/family_reader.hpp"

namespace lockstep::isa {

/// Base of the readers of texture and surface instructions.  One PTX statement becomes many
/// operations: they read the header behind a handle, and lanes that do not take part jump over
/// them.
class TexelReader : public FamilyReader {
 public:
  using FamilyReader::FamilyReader;

 protected:
  /// Words of a TextureHeader, in registers of 64 bits.
  struct Header {
    ir::Operand handle, address, extents, layout, slices;
  };
  using Operands = std::vector<ir::Operand>;

  ir::Operand new_register(Type type) { return ir::register_operand(code_.new_register(type)); }
  ir::Operand new_predicate() { return ir::predicate_operand(code_.new_register(Type::pred)); }
  void append(const PtxInstruction& instruction, Opcode opcode, Type type, Operands destinations,
              Operands sources, std::uint16_t mode = 0);
  /// Appends a load through the read-only path.
  void load(const PtxInstruction& instruction, Type type, const ir::Operand& guard,
            Operands destinations, const ir::Operand& address, std::int64_t offset = 0);
  /// Makes lanes whose guard is false jump to a label that leave() places; the operations in
  /// between have no guard.
  std::optional<std::uint32_t> enter(PtxInstruction& instruction);
  void leave(std::optional<std::uint32_t> label);
  std::uint32_t jump_unless(const PtxInstruction& instruction, ir::Operand predicate);

  /// Returns the handle, and coordinates_of() the coordinates, of [handle, {x, y}].
  const Argument& handle_of(const PtxInstruction& instruction, const Argument& place) const;
  std::vector<Argument> coordinates_of(const PtxInstruction& instruction,
                                       const Argument& place) const;
  Header load_header(const PtxInstruction& instruction, const Argument& handle);
};

/// tex, txq and suq.
class TextureReader : public TexelReader {
 public:
  using TexelReader::TexelReader;
  void fetch(PtxInstruction& instruction);
  void query(PtxInstruction& instruction);

 private:
  /// Texel numbers of one coordinate.
  struct Index {
    ir::Operand first, second;
  };
  struct Shape {
    unsigned dimensions = 1;
    bool layered = false;
    Type result = Type::f32;
    bool by_float = false;
    bool may_interpolate() const { return by_float; }
  };
  struct Place {
    Header header;
    Index x, y, z;
    ir::Operand weights, linear;
  };

  Shape shape_of(PtxInstruction& instruction) const;
  Place place_of(const PtxInstruction& instruction, const Shape& shape, const Argument& where);
  Operands texel(const PtxInstruction& instruction, const Shape& shape, const Place& place,
                 unsigned corner, Operands channels);
  void interpolate(const PtxInstruction& instruction, const Shape& shape, const Place& place,
                   const Operands& channels, std::span<const bool> wanted);
  ir::Operand row_of(const PtxInstruction& instruction, const Shape& shape, const Place& place,
                     unsigned corner);
};

}  // namespace lockstep::isa
