/// Replacement of fields in tensor maps, as loads and stores of their bytes, and the copy of a map
/// with its fence.
///
/// Source: PTX ISA 8.x, "tensormap.replace" and "tensormap.cp_fenceproxy"; how CUTLASS uses them
/// (cute/arch/copy_sm90_desc.hpp): sizes as they are, strides in bytes.
///
/// Simplified: compilers before CUDA 12.5 give strides in units of 16 bytes; here they have bytes.
/// A map is replaced field by field, not as one access of 128 bytes.
#include "models/isa/reader/families/tensor_map.hpp"

#include "models/isa/reader/families/qualifiers.hpp"
#include "models/isa/reader/translation/expansion.hpp"

namespace lockstep::isa {

namespace fields = tensor_map_fields;

void TensorMapReader::tensormap(PtxInstruction& instruction) {
  Modifiers& modifiers = instruction.modifiers;
  if (modifiers.take("replace")) return replace(instruction);
  if (modifiers.take("cp_fenceproxy")) return copy(instruction);
  instruction.fail("is .replace or .cp_fenceproxy");
}

TensorMapReader::Place TensorMapReader::place(PtxInstruction& instruction, const Argument& argument,
                                              Space space) {
  operands_.address(instruction, argument);
  ir::Operation& operation = instruction.operation;
  const Place place{space, operation.sources.back(), operation.offset};
  operation.sources.clear();
  operation.offset = 0;
  return place;
}

unsigned TensorMapReader::dimension(PtxInstruction& instruction, unsigned first) {
  instruction.expect_arguments(3, 3);
  const Argument& written = instruction.argument(1);
  const std::int64_t ordinal = operands_.immediate(instruction, written, Type::u32).value;
  if (ordinal < 0 || ordinal + first >= TensorMap::most_rank)
    instruction.fail(written.at, "no such dimension", "dimensions are counted from 0");
  return static_cast<unsigned>(ordinal) + first;
}

void TensorMapReader::replace(PtxInstruction& instruction) {
  Modifiers& modifiers = instruction.modifiers;
  if (!modifiers.take("tile")) instruction.fail("needs .tile: im2col mode is not modelled");
  const Space space = take_space(modifiers);
  if (!modifiers.take("b1024")) instruction.fail("needs .b1024");
  const Place map = place(instruction, instruction.argument(0), space);
  const auto less_one = [&](const ir::Operand& value) {
    return compute(code_, instruction, Opcode::add, Type::u32, value, ir::immediate_operand(-1));
  };
  const auto value = [&](Type type) {
    if (!modifiers.take(type == Type::b64 ? "b64" : "b32"))
      instruction.fail(type == Type::b64 ? "needs .b64" : "needs .b32");
    return operands_.source(instruction, instruction.argument(instruction.arguments() - 1), type);
  };
  if (modifiers.take("global_address")) {
    instruction.expect_arguments(2, 2);
    write(instruction, map, fields::address(), value(Type::b64));
  } else if (modifiers.take("rank")) {
    instruction.expect_arguments(2, 2);
    write(instruction, map, fields::rank(), value(Type::b32));
  } else if (modifiers.take("box_dim")) {
    const unsigned d = dimension(instruction, 0);
    write(instruction, map, fields::box(d), less_one(value(Type::b32)));
  } else if (modifiers.take("global_dim")) {
    const unsigned d = dimension(instruction, 0);
    write(instruction, map, fields::size(d), less_one(value(Type::b32)));
  } else if (modifiers.take("element_stride")) {
    const unsigned d = dimension(instruction, 0);
    write(instruction, map, fields::step(d), less_one(value(Type::b32)));
  } else if (modifiers.take("global_stride")) {
    const unsigned d = dimension(instruction, 1);
    const ir::Operand units = compute(code_, instruction, Opcode::shr, Type::u64, value(Type::b64),
                                      ir::immediate_operand(4));
    write(instruction, map, fields::stride(d), narrow(code_, instruction, units, Type::u64));
  } else {
    replace_choice(instruction, map);
  }
  instruction.reject_rest();
}

void TensorMapReader::replace_choice(PtxInstruction& instruction, const Place& map) {
  Modifiers& modifiers = instruction.modifiers;
  instruction.expect_arguments(2, 2);
  if (!modifiers.take("b32")) instruction.fail("needs .b32");
  const Argument& written = instruction.argument(1);
  const std::int64_t number = operands_.immediate(instruction, written, Type::u32).value;
  const auto require_below = [&](std::int64_t end) {
    if (number < 0 || number >= end)
      instruction.fail(written.at, "is not modelled with this value",
                       "give one below " + std::to_string(end));
  };
  const auto put = [&](const TensorMapField& field, std::int64_t value) {
    write(instruction, map, field, ir::immediate_operand(value));
  };
  if (modifiers.take("elemtype")) {
    require_below(13);
    const bool rounds = number >= 11;  // the types from 11 on are f32 rounded to tf32
    put(fields::type(), rounds ? number - 4 : number);
    put(fields::rounds_to_tf32(), rounds ? 1 : 0);
  } else if (modifiers.take("interleave_layout")) {
    require_below(1);
    put(fields::interleave(), number);
  } else if (modifiers.take("swizzle_mode")) {
    require_below(4);
    put(fields::swizzle(), number);
    put(fields::pattern(), pattern_of(static_cast<Swizzle>(number)));
  } else if (modifiers.take("fill_mode")) {
    require_below(2);
    put(fields::fill(), number);
  } else if (modifiers.take("swizzle_atomicity")) {
    require_below(1);
  } else {
    instruction.fail("has no such field");
  }
}

void TensorMapReader::write(PtxInstruction& instruction, const Place& map,
                            const TensorMapField& field, const ir::Operand& value) {
  ir::Operand whole = value;
  if (field.is_part()) {
    ir::Operation insert = instruction.plain(Opcode::bfi, Type::b32);
    insert.guard = instruction.operation.guard;
    insert.sources = {value, load(instruction, map, Type::b32, field.byte),
                      ir::immediate_operand(field.low), ir::immediate_operand(field.width)};
    insert.destinations = {ir::register_operand(code_.new_register(Type::b32))};
    whole = insert.destinations[0];
    code_.append(std::move(insert));
  }
  const Type type = field.bytes == 8 ? Type::b64 : field.bytes == 1 ? Type::b8 : Type::b32;
  store(instruction, map, type, field.byte, whole);
}

ir::Operand TensorMapReader::load(PtxInstruction& instruction, const Place& from, Type type,
                                  std::int64_t offset) {
  ir::Operation load = instruction.plain(Opcode::ld, type);
  load.guard = instruction.operation.guard;
  load.space = from.space;
  load.sources = {from.base};
  load.offset = from.offset + offset;
  load.destinations = {ir::register_operand(code_.new_register(type))};
  const ir::Operand result = load.destinations[0];
  code_.append(std::move(load));
  return result;
}

void TensorMapReader::store(PtxInstruction& instruction, const Place& to, Type type,
                            std::int64_t offset, const ir::Operand& value) {
  ir::Operation store = instruction.plain(Opcode::st, type);
  store.guard = instruction.operation.guard;
  store.space = to.space;
  store.sources = {to.base, value};
  store.offset = to.offset + offset;
  code_.append(std::move(store));
}

/// Copies a map: each of the warp's 32 lanes copies four bytes.
void TensorMapReader::copy(PtxInstruction& instruction) {
  Modifiers& modifiers = instruction.modifiers;
  for (const char* part :
       {"global", "shared::cta", "tensormap::generic", "release", "sync", "aligned"})
    if (!modifiers.take(part)) instruction.fail("needs ." + std::string(part));
  const Scope scope = take_scope(modifiers);
  if (scope == Scope::none) instruction.fail("needs a scope: .cta, .gpu or .sys");
  instruction.expect_arguments(3, 3);
  const Argument& size = instruction.argument(2);
  if (operands_.immediate(instruction, size, Type::u32).value != TensorMap::bytes)
    instruction.fail(size.at, "a tensor map has 128 bytes", "write 128");
  ir::Operation lane = instruction.plain(Opcode::mov, Type::u32);
  lane.guard = instruction.operation.guard;
  ir::Operand special;
  special.kind = Kind::special;
  special.index = static_cast<std::uint32_t>(ir::SpecialRegister::laneid);
  lane.sources = {special};
  lane.destinations = {ir::register_operand(code_.new_register(Type::b32))};
  const ir::Operand number = lane.destinations[0];
  code_.append(std::move(lane));
  const ir::Operand offset =
      compute(code_, instruction, Opcode::shl, Type::b32, number, ir::immediate_operand(2));
  const auto of_lane = [&](Place place) {
    const bool is_wide = place.base.type == Type::b64;
    ir::Operand distance = offset;
    if (is_wide) {
      distance = ir::register_operand(code_.new_register(Type::b64));
      widen(code_, instruction, offset, distance, Type::u64);
    }
    ir::Operand base = place.base;
    base.type = Type::none;
    place.base =
        compute(code_, instruction, Opcode::add, is_wide ? Type::u64 : Type::u32, base, distance);
    place.base.type = is_wide ? Type::b64 : Type::b32;
    return place;
  };
  const Place to = of_lane(place(instruction, instruction.argument(0), Space::global));
  const Place from = of_lane(place(instruction, instruction.argument(1), Space::shared));
  store(instruction, to, Type::b32, 0, load(instruction, from, Type::b32, 0));
  instruction.operation.opcode = Opcode::fence;
  instruction.operation.ordering = Ordering::release;
  instruction.operation.scope = scope;
  code_.finish(instruction);
}

}  // namespace lockstep::isa
