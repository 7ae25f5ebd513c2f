/// Texture fetches: a statement becomes loads of the header behind the handle, operations that find
/// the texels (semantics/families/texture.cc), ordinary loads of their bytes through the read-only
/// path, and operations that decode and mix them.  So texels pass caches, page faults and checks
/// like all other data.
///
/// Source: PTX ISA 8.x, "Texture Instructions".
///
/// Simplified: hardware issues one instruction, which takes an SM's four texture units eight
/// cycles; here ten issue for a fetch without filtering and some thirty with it, in two dimensions.
/// Texels of one or two bytes are loaded in words of four.  Levels of detail are read and have no
/// effect, as with textures of one level; no gradients for anisotropy, cubes, gathers, offsets,
/// comparisons or samplers apart from their texture.
#include "models/isa/reader/families/textures.hpp"

#include <cstddef>

#include "models/isa/semantics/texture_header.hpp"

namespace lockstep::isa {

using ir::immediate_operand;

namespace {

constexpr std::uint16_t float_coordinate = 4;  // flag of tex_index, beside the dimension

ir::Operand as(ir::Operand operand, Type type) {
  operand.type = type;
  return operand;
}

}  // namespace

void TexelReader::append(const PtxInstruction& instruction, Opcode opcode, Type type,
                         Operands destinations, Operands sources, std::uint16_t mode) {
  ir::Operation operation = instruction.plain(opcode, type);
  operation.destinations = std::move(destinations);
  operation.sources = std::move(sources);
  operation.mode = mode;
  code_.append(std::move(operation));
}

void TexelReader::load(const PtxInstruction& instruction, Type type, const ir::Operand& guard,
                       Operands destinations, const ir::Operand& address, std::int64_t offset) {
  ir::Operation operation = instruction.plain(Opcode::ld, type);
  operation.guard = guard;
  operation.space = Space::global;
  operation.cache = CacheOperator::texel;
  operation.elements = static_cast<std::uint8_t>(destinations.size());
  operation.destinations = std::move(destinations);
  operation.sources = {as(address, Type::b64)};
  operation.offset = offset;
  code_.append(std::move(operation));
}

std::uint32_t TexelReader::jump_unless(const PtxInstruction& instruction, ir::Operand predicate) {
  const std::uint32_t label = code_.new_label();
  ir::Operation jump = instruction.plain(Opcode::bra, Type::none);
  predicate.negated = !predicate.negated;
  jump.guard = predicate;
  jump.sources.emplace_back().kind = Kind::label;
  jump.sources.back().index = label;
  code_.append(std::move(jump));
  return label;
}

std::optional<std::uint32_t> TexelReader::enter(PtxInstruction& instruction) {
  if (instruction.operation.guard.kind == Kind::none) return std::nullopt;
  const std::uint32_t label = jump_unless(instruction, instruction.operation.guard);
  instruction.operation.guard = {};
  return label;
}

void TexelReader::leave(std::optional<std::uint32_t> label) {
  if (label) code_.place_label(*label);
}

const syntax::Operand& TexelReader::handle_of(const PtxInstruction& instruction,
                                              const Argument& place) const {
  if (place.kind != Argument::Kind::address || place.children.size() > 2)
    instruction.fail(place.at, place.children.size() > 2
                                   ? "samplers apart from their texture are not supported"
                                   : "needs [handle, {coordinates}]");
  const Argument& handle = place.children.front();
  if (handle.kind != Argument::Kind::name || handle.addend != 0)
    instruction.fail(handle.at, "the handle is a register or a name");
  return handle;
}

std::vector<syntax::Operand> TexelReader::coordinates_of(const PtxInstruction& instruction,
                                                         const Argument& place) const {
  handle_of(instruction, place);
  if (place.children.size() != 2) instruction.fail(place.at, "needs [handle, {coordinates}]");
  const Argument& given = place.children.back();
  return given.kind == Argument::Kind::vector ? given.children : std::vector<Argument>{given};
}

TexelReader::Header TexelReader::load_header(const PtxInstruction& instruction,
                                             const Argument& handle) {
  Header header;
  header.handle = operands_.source(instruction, handle, Type::b64);
  for (ir::Operand* word : {&header.address, &header.extents, &header.layout, &header.slices})
    *word = new_register(Type::b64);
  load(instruction, Type::b64, {}, {header.address, header.extents}, header.handle);
  load(instruction, Type::b64, {}, {header.layout, header.slices}, header.handle, 16);
  return header;
}

TextureReader::Shape TextureReader::shape_of(PtxInstruction& instruction) const {
  static constexpr std::pair<std::string_view, unsigned> names[] = {
      {"1d", 1}, {"2d", 2}, {"3d", 3}, {"a1d", 11}, {"a2d", 12}};
  Modifiers& modifiers = instruction.modifiers;
  const unsigned geometry = modifiers.take_one(names, 0u);
  if (geometry == 0) instruction.fail("this geometry is not supported");
  Shape shape;
  shape.dimensions = geometry % 10;
  shape.layered = geometry > 10;
  if (!modifiers.take("v4")) instruction.fail("gives four channels, .v4");
  shape.result = modifiers.take_type();
  const Type coordinate = modifiers.take_type();
  if (shape.result != Type::f32 && shape.result != Type::s32 && shape.result != Type::u32)
    instruction.fail("results are .f32, .s32 or .u32");
  if (coordinate != Type::f32 && coordinate != Type::s32)
    instruction.fail("coordinates are .f32 or .s32");
  shape.by_float = coordinate == Type::f32;
  return shape;
}

TextureReader::Place TextureReader::place_of(const PtxInstruction& instruction, const Shape& shape,
                                             const Argument& where) {
  const std::vector<Argument> given = coordinates_of(instruction, where);
  const std::size_t needed = shape.dimensions + (shape.layered ? 1 : 0);
  if (given.size() < needed || given.size() > 4)
    instruction.fail(where.at, "needs " + std::to_string(needed) + " coordinates");
  Place place;
  place.header = load_header(instruction, where.children.front());
  place.weights = immediate_operand(0);
  place.linear = new_predicate();
  Index* const indices[] = {&place.x, &place.y, &place.z};
  ir::Operand nothing;
  nothing.kind = Kind::discard;
  nothing.type = Type::pred;
  const auto find = [&](const Argument& coordinate, unsigned dimension, bool by_float) {
    Index& index = *indices[dimension];
    index = {new_register(Type::b32), new_register(Type::b32)};
    const ir::Operand weights = new_register(Type::b32);
    const std::uint16_t mode =
        static_cast<std::uint16_t>(dimension) | (by_float ? float_coordinate : 0);
    append(instruction, Opcode::tex_index, Type::b64,
           {index.first, index.second, weights, dimension == 0 ? place.linear : nothing},
           {operands_.source(instruction, coordinate, by_float ? Type::f32 : Type::s32),
            dimension == 2 ? place.header.slices : place.header.extents, place.header.layout,
            place.weights},
           mode);
    place.weights = weights;
  };
  const std::size_t first = shape.layered ? 1 : 0;
  for (unsigned d = 0; d < shape.dimensions; ++d) find(given[first + d], d, shape.by_float);
  if (shape.layered) find(given[0], 2, false);
  return place;
}

/// Returns the row of a texel. `corner`: bits that choose the second texel in x, y, z.
ir::Operand TextureReader::row_of(const PtxInstruction& instruction, const Shape& shape,
                                  const Place& place, unsigned corner) {
  const ir::Operand y = shape.dimensions == 1 ? immediate_operand(0)
                        : (corner & 2) != 0   ? place.y.second
                                              : place.y.first;
  if (shape.dimensions < 3 && !shape.layered) return y;
  const ir::Operand row = new_register(Type::b32);
  append(instruction, Opcode::tex_row, Type::b64, {row},
         {y, (corner & 4) != 0 ? place.z.second : place.z.first, place.header.slices});
  return row;
}

/// Returns the channels of one texel, in the registers given.
TexelReader::Operands TextureReader::texel(const PtxInstruction& instruction, const Shape& shape,
                                           const Place& place, unsigned corner, Operands channels) {
  const ir::Operand address = new_register(Type::b64), bytes = new_register(Type::b64),
                    more = new_register(Type::b64);
  const ir::Operand wide = new_predicate(), widest = new_predicate();
  append(instruction, Opcode::tex_address, Type::b64, {address, bytes, more, wide, widest},
         {place.header.handle, place.header.address, place.header.layout,
          (corner & 1) != 0 ? place.x.second : place.x.first,
          row_of(instruction, shape, place, corner)});
  ir::Operand narrow = wide;
  narrow.negated = true;
  load(instruction, Type::u32, narrow, {as(bytes, Type::b64)}, address);
  load(instruction, Type::b64, wide, {bytes}, address);
  load(instruction, Type::b64, widest, {more}, address, 8);
  append(instruction, Opcode::tex_decode, Type::b64, channels, {bytes, more, place.header.layout});
  return channels;
}

/// Mixes the first texel, whose channels are available, with its neighbours.
void TextureReader::interpolate(const PtxInstruction& instruction, const Shape& shape,
                                const Place& place, const Operands& channels,
                                std::span<const bool> wanted) {
  const auto fresh = [&] {
    Operands registers;
    for (int c = 0; c < 4; ++c) registers.push_back(new_register(Type::f32));
    return registers;
  };
  const auto neighbour = [&](unsigned corner) {
    return texel(instruction, shape, place, corner, fresh());
  };
  const auto mix = [&](const Operands& into, const std::vector<Operands>& texels,
                       unsigned dimension) {
    for (std::size_t c = 0; c < 4; ++c) {
      if (!wanted[c]) continue;
      Operands sources;
      for (const Operands& one : texels) sources.push_back(one[c]);
      sources.push_back(place.weights);
      append(instruction, Opcode::tex_mix, Type::f32, {into[c]}, std::move(sources),
             static_cast<std::uint16_t>(dimension));
    }
  };
  if (shape.dimensions == 1) {
    mix(channels, {channels, neighbour(1)}, 0);
    return;
  }
  mix(channels, {channels, neighbour(1), neighbour(2), neighbour(3)}, 0);
  if (shape.dimensions == 2) return;
  const Operands far = neighbour(4);
  mix(far, {far, neighbour(5), neighbour(6), neighbour(7)}, 0);
  mix(channels, {channels, far}, 2);
}

void TextureReader::fetch(PtxInstruction& instruction) {
  Modifiers& modifiers = instruction.modifiers;
  const std::size_t more = modifiers.take("level") ? 1 : modifiers.take("grad") ? 2 : 0;
  modifiers.take("base");
  const Shape shape = shape_of(instruction);
  instruction.reject_rest();
  if (instruction.arguments() > 2 + more)
    instruction.fail("offsets and comparisons are not supported");
  instruction.expect_arguments(2 + more, 2 + more);
  const Argument& to = instruction.argument(0);
  if (to.kind != Argument::Kind::vector || to.children.size() != 4)
    instruction.fail(to.at, "needs four destinations, {d, e, f, g}");
  const auto end = enter(instruction);
  Operands channels;
  bool wanted[4] = {};
  for (std::size_t c = 0; c < 4; ++c) {
    channels.push_back(
        as(operands_.destination(instruction, to.children[c], shape.result), Type::f32));
    wanted[c] = channels.back().kind == Kind::reg;
    if (!wanted[c]) channels.back() = new_register(Type::f32);
  }
  const Place place = place_of(instruction, shape, instruction.argument(1));
  texel(instruction, shape, place, 0, channels);
  if (shape.may_interpolate()) {
    const std::uint32_t nearest = jump_unless(instruction, place.linear);
    interpolate(instruction, shape, place, channels, wanted);
    code_.place_label(nearest);
  }
  leave(end);
}

void TextureReader::query(PtxInstruction& instruction) {
  static constexpr std::pair<std::string_view, int> fields[] = {
      {"width", offsetof(TextureHeader, width)},
      {"height", offsetof(TextureHeader, height)},
      {"depth", offsetof(TextureHeader, depth)},
      {"array_size", offsetof(TextureHeader, depth)}};
  const int offset = instruction.modifiers.take_one(fields, -1);
  if (offset < 0) instruction.fail("this query is not supported");
  instruction.modifiers.take("b32");
  instruction.reject_rest();
  instruction.expect_arguments(2, 2);
  const auto end = enter(instruction);
  const ir::Operand handle =
      operands_.source(instruction, handle_of(instruction, instruction.argument(1)), Type::b64);
  load(instruction, Type::b32, {},
       {operands_.destination(instruction, instruction.argument(0), Type::b32)}, handle, offset);
  leave(end);
}

}  // namespace lockstep::isa
