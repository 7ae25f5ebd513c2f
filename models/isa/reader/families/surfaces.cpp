/// Loads and stores of surfaces by bytes (suld.b, sust.b): the header behind the handle says where
/// a row is, an operation finds the byte and whether the access lies inside, then an ordinary load
/// or store of global memory follows.
///
/// Source: PTX ISA 8.x, "Surface Instructions".
///
/// Simplified: no cubes; no conversion to the surface's format (suld.p, sust.p) and
/// no reductions (sured).
#include "models/isa/reader/families/surfaces.hpp"

#include "models/isa/reader/families/qualifiers.hpp"
#include "models/isa/semantics/surface_modes.hpp"

namespace lockstep::isa {

namespace {

/// Returns the data without the braces that a single element may have.
syntax::Operand without_braces(const syntax::Operand& data) {
  const bool single = data.kind == syntax::Operand::Kind::vector && data.children.size() == 1;
  return single ? data.children.front() : data;
}

}  // namespace

SurfaceReader::Outside SurfaceReader::read_modifiers(PtxInstruction& instruction) {
  static constexpr std::pair<std::string_view, Outside> names[] = {
      {"trap", Outside::trap}, {"clamp", Outside::clamp}, {"zero", Outside::zero}};
  static constexpr std::pair<std::string_view, Shape> geometries[] = {
      {"1d", {1}}, {"2d", {2}}, {"3d", {3}}, {"a1d", {1, true}}, {"a2d", {2, true}}};
  Modifiers& modifiers = instruction.modifiers;
  if (!modifiers.take("b")) instruction.fail("only accesses by bytes, .b, are supported");
  shape_ = modifiers.take_one(geometries, Shape{0});
  if (shape_.dimensions == 0) instruction.fail("this geometry is not supported");
  const Outside outside = modifiers.take_one(names, Outside::trap);
  read_qualifiers(instruction);
  instruction.operation.space = Space::global;
  instruction.operation.type = read_memory_type(instruction);
  instruction.reject_rest();
  instruction.expect_arguments(2, 2);
  return outside;
}

/// Returns the row, counted over all slices if there are several.
ir::Operand SurfaceReader::row_of(const PtxInstruction& instruction, const Header& header,
                                  const std::vector<Argument>& given, Outside outside) {
  const std::size_t first = shape_.layered ? 1 : 0;
  const auto coordinate = [&](std::size_t index) {
    return operands_.source(instruction, given[index], Type::s32);
  };
  const ir::Operand y = shape_.dimensions == 1 ? ir::immediate_operand(0) : coordinate(first + 1);
  if (!shape_.has_slices()) return y;
  const ir::Operand row = new_register(Type::b32);
  append(instruction, Opcode::tex_row, Type::b64, {row},
         {y, coordinate(shape_.layered ? 0 : 2), header.slices},
         static_cast<std::uint16_t>(outside == Outside::clamp ? SliceMode::clamped_surface
                                                              : SliceMode::surface));
  return row;
}

SurfaceReader::Access SurfaceReader::locate(const PtxInstruction& instruction,
                                            const Argument& place, Outside outside) {
  const std::vector<Argument> given = coordinates_of(instruction, place);
  const std::size_t needed = shape_.dimensions + (shape_.layered ? 1 : 0);
  if (given.size() < needed || given.size() > 4)
    instruction.fail(place.at, "needs " + std::to_string(needed) + " coordinates");
  const Header header = load_header(instruction, place.children.front());
  const Access access{new_register(Type::b64), new_predicate()};
  ir::Operation find = instruction.plain(Opcode::surf_address, Type::b64);
  find.destinations = {access.address, access.inside};
  find.sources = {header.address, header.extents, header.layout,
                  operands_.source(instruction, given[shape_.layered ? 1 : 0], Type::s32),
                  row_of(instruction, header, given, outside)};
  find.mode = static_cast<std::uint16_t>((outside == Outside::clamp ? surface_clamps : 0) |
                                         (shape_.has_slices() ? surface_has_slices : 0));
  find.immediate = bytes_of(instruction.operation.type) * instruction.operation.elements;
  code_.append(std::move(find));
  if (outside == Outside::trap) {
    ir::Operation trap = instruction.plain(Opcode::trap, Type::none);
    trap.guard = access.inside;
    trap.guard.negated = true;
    trap.mode = outside_surface_trap;
    code_.append(std::move(trap));
  }
  return access;
}

void SurfaceReader::load(PtxInstruction& instruction) {
  ir::Operation& operation = instruction.operation;
  const Outside outside = read_modifiers(instruction);
  const auto end = enter(instruction);
  const Access access = locate(instruction, instruction.argument(1), outside);
  operation.opcode = Opcode::ld;
  for (const Argument& to : elements(code_, instruction, without_braces(instruction.argument(0))))
    operation.destinations.push_back(operands_.destination(instruction, to, operation.type, true));
  if (outside == Outside::zero) {
    for (const ir::Operand& to : operation.destinations)
      if (to.kind == Kind::reg)
        append(instruction, Opcode::mov, code_.register_type(to, operation.type),
               {ir::register_operand(to.index)}, {ir::immediate_operand(0)});
    operation.guard = access.inside;
  }
  operation.sources = {access.address};
  operation.sources.back().type = Type::b64;
  code_.finish(instruction);
  leave(end);
}

void SurfaceReader::store(PtxInstruction& instruction) {
  ir::Operation& operation = instruction.operation;
  const Outside outside = read_modifiers(instruction);
  const auto end = enter(instruction);
  const Access access = locate(instruction, instruction.argument(0), outside);
  operation.opcode = Opcode::st;
  operation.sources = {access.address};
  operation.sources.back().type = Type::b64;
  for (const Argument& from : elements(code_, instruction, without_braces(instruction.argument(1))))
    operation.sources.push_back(operands_.source(instruction, from, operation.type, true));
  if (outside == Outside::zero) operation.guard = access.inside;
  code_.finish(instruction);
  leave(end);
}

}  // namespace lockstep::isa
