/// Moves.
/// Source: PTX ISA 8.x, "mov".
#include "models/isa/reader/families/moves.hpp"

#include "models/isa/reader/translation/wide_registers.hpp"

namespace lockstep::isa {

void MoveReader::move(PtxInstruction& instruction) {
  ir::Operation& operation = instruction.operation;
  if (instruction.modifiers.take("b128")) {
    move_b128(instruction);
    return;
  }
  operation.type = instruction.modifiers.take_type();
  if (operation.type == Type::none) instruction.lacks_type();
  instruction.expect_arguments(2, 2);
  const Argument& to = instruction.argument(0);
  const Argument& from = instruction.argument(1);
  const auto part_type = [&](std::size_t count) {
    const std::size_t bytes = count == 0 ? 0 : bytes_of(operation.type) / count;
    if (bytes * count != bytes_of(operation.type) || bytes == 0 || bytes > 4)
      instruction.fail("vector does not match the type");
    return bytes == 1 ? Type::b8 : bytes == 2 ? Type::b16 : Type::b32;
  };
  if (operation.type == Type::pred) {
    operation.destinations.push_back(operands_.predicate(instruction, to));
    operation.sources.push_back(operands_.predicate(instruction, from));
  } else if (to.kind == Argument::Kind::vector) {
    operation.opcode = Opcode::mov_unpack;
    for (const Argument& child : to.children)
      operation.destinations.push_back(
          operands_.destination(instruction, child, part_type(to.children.size())));
    operation.sources.push_back(operands_.source(instruction, from, operation.type));
  } else if (from.kind == Argument::Kind::vector) {
    operation.opcode = Opcode::mov_pack;
    operation.destinations.push_back(operands_.destination(instruction, to, operation.type));
    for (const Argument& child : from.children)
      operation.sources.push_back(
          operands_.source(instruction, child, part_type(from.children.size())));
  } else {
    operation.destinations.push_back(operands_.destination(instruction, to, operation.type));
    const auto special = special_register_named(from.text);
    if (special && code_.lookup(from.text) == nullptr) {
      operands_.check_width(instruction, from, type_of(*special), operation.type, false);
      ir::Operand read;
      read.kind = Kind::special;
      read.index = static_cast<std::uint32_t>(*special);
      operation.sources.push_back(read);
    } else {
      operation.sources.push_back(operands_.source(instruction, from, operation.type));
    }
  }
  code_.finish(instruction);
}

void MoveReader::move_b128(PtxInstruction& instruction) {
  instruction.expect_arguments(2, 2);
  if (!instruction.modifiers.rest().empty()) instruction.fail("modifier is not supported here");
  const auto pair = [&](const Argument& written) {
    if (is_b128(code_, written)) return halves(written);
    if (written.kind != Argument::Kind::vector || written.children.size() != 2)
      instruction.fail(written.at,
                       "mov.b128 needs a register of 128 bits or a pair {low, high} of 64");
    return written.children;
  };
  const std::vector<Argument> to = pair(instruction.argument(0)),
                              from = pair(instruction.argument(1));
  // The values pass through further registers, because mov {a, b}, {b, a} exchanges them.
  std::vector<ir::Operation> second;
  for (std::size_t h = 0; h < 2; ++h) {
    ir::Operation in = instruction.plain(Opcode::mov, Type::b64);
    ir::Operation out = in;
    out.guard = instruction.operation.guard;
    ir::Operand held;
    held.kind = Kind::reg;
    held.index = code_.new_register(Type::b64, "%half");
    in.sources.push_back(operands_.source(instruction, from[h], Type::b64));
    in.destinations.push_back(held);
    out.sources.push_back(held);
    out.destinations.push_back(operands_.destination(instruction, to[h], Type::b64));
    code_.append(std::move(in));
    second.push_back(std::move(out));
  }
  for (ir::Operation& out : second) code_.append(std::move(out));
}

}  // namespace lockstep::isa
