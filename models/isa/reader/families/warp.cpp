/// Shuffles, votes, matches, reductions over a warp, and barriers.
/// Source: PTX ISA 8.x, section 9.7.13 "Parallel Synchronization and Communication Instructions".
#include "models/isa/reader/families/warp.hpp"

#include "models/isa/semantics/modes.hpp"

namespace lockstep::isa {

void WarpReader::shuffle(PtxInstruction& instruction) {
  static constexpr std::pair<std::string_view, std::uint16_t> modes[] = {
      {"up", static_cast<std::uint16_t>(ShuffleMode::up)},
      {"down", static_cast<std::uint16_t>(ShuffleMode::down)},
      {"bfly", static_cast<std::uint16_t>(ShuffleMode::bfly)},
      {"idx", static_cast<std::uint16_t>(ShuffleMode::idx)}};
  ir::Operation& operation = instruction.operation;
  operation.sync = instruction.modifiers.take("sync");
  operation.mode = instruction.modifiers.take_one(modes, std::uint16_t{0xffff});
  operation.type = instruction.modifiers.take_type();
  if (operation.mode == 0xffff || operation.type == Type::none)
    instruction.fail("needs a mode and a type");
  const std::size_t operands = operation.sync ? 5 : 4;
  instruction.expect_arguments(operands, operands);
  register_and_predicate(instruction, instruction.argument(0));
  for (std::size_t i = 1; i < operands; ++i)
    operation.sources.push_back(operands_.source(instruction, instruction.argument(i), Type::b32));
  code_.finish(instruction);
}

/// Reads a register, or a register and a predicate as r|p.
void WarpReader::register_and_predicate(PtxInstruction& instruction, const syntax::Operand& to) {
  ir::Operation& operation = instruction.operation;
  const bool pair = to.kind == Argument::Kind::pair;
  operation.destinations.push_back(
      operands_.destination(instruction, pair ? to.children[0] : to, Type::b32));
  if (pair) operation.destinations.push_back(operands_.predicate(instruction, to.children[1]));
}

void WarpReader::vote(PtxInstruction& instruction) {
  static constexpr std::pair<std::string_view, std::uint16_t> votes[] = {
      {"all", static_cast<std::uint16_t>(VoteMode::all)},
      {"any", static_cast<std::uint16_t>(VoteMode::any)},
      {"uni", static_cast<std::uint16_t>(VoteMode::uni)},
      {"ballot", static_cast<std::uint16_t>(VoteMode::ballot)}};
  ir::Operation& operation = instruction.operation;
  Modifiers& modifiers = instruction.modifiers;
  operation.sync = modifiers.take("sync");
  operation.mode = modifiers.take_one(votes, std::uint16_t{0xffff});
  operation.type = modifiers.take_type();
  if (operation.mode == 0xffff) instruction.fail("needs a mode");
  const std::size_t operands = operation.sync ? 3 : 2;
  instruction.expect_arguments(operands, operands);
  const Argument& to = instruction.argument(0);
  if (operation.type == Type::pred && to.kind != Argument::Kind::pair) {
    operation.destinations.push_back(operands_.predicate(instruction, to));
  } else {
    register_and_predicate(instruction, to);
  }
  operation.sources.push_back(operands_.predicate(instruction, instruction.argument(1)));
  if (operation.sync)
    operation.sources.push_back(operands_.source(instruction, instruction.argument(2), Type::b32));
  code_.finish(instruction);
}

void WarpReader::activemask(PtxInstruction& instruction) {
  instruction.operation.type = instruction.modifiers.take_type();
  instruction.expect_arguments(1, 1);
  register_and_predicate(instruction, instruction.argument(0));
  code_.finish(instruction);
}

void WarpReader::elect(PtxInstruction& instruction) {
  ir::Operation& operation = instruction.operation;
  operation.sync = instruction.modifiers.take("sync");
  operation.type = Type::b32;
  instruction.expect_arguments(2, 2);
  register_and_predicate(instruction, instruction.argument(0));
  operation.sources.push_back(operands_.source(instruction, instruction.argument(1), Type::b32));
  code_.finish(instruction);
}

void WarpReader::match_or_reduce(PtxInstruction& instruction) {
  static constexpr std::pair<std::string_view, std::uint16_t> matches[] = {
      {"any", static_cast<std::uint16_t>(MatchMode::any)},
      {"all", static_cast<std::uint16_t>(MatchMode::all)}};
  static constexpr std::pair<std::string_view, AtomicOperation> reductions[] = {
      {"add", AtomicOperation::add},       {"min", AtomicOperation::min},
      {"max", AtomicOperation::max},       {"and", AtomicOperation::logical_and},
      {"or", AtomicOperation::logical_or}, {"xor", AtomicOperation::logical_xor}};
  ir::Operation& operation = instruction.operation;
  Modifiers& modifiers = instruction.modifiers;
  const bool match = operation.opcode == Opcode::match;
  operation.sync = modifiers.take("sync");
  if (match) {
    operation.mode = modifiers.take_one(matches, std::uint16_t{0});
  } else {
    operation.atomic = modifiers.take_one(reductions, AtomicOperation::none);
  }
  operation.type = modifiers.take_type();
  if (operation.type == Type::none) instruction.lacks_type();
  if (!match && (bytes_of(operation.type) != 4 || is_float(operation.type)))
    instruction.fail("only .u32, .s32 and .b32 are supported in this release");
  instruction.expect_arguments(3, 3);
  register_and_predicate(instruction, instruction.argument(0));
  operation.sources.push_back(
      operands_.source(instruction, instruction.argument(1), operation.type));
  operation.sources.push_back(operands_.source(instruction, instruction.argument(2), Type::b32));
  code_.finish(instruction);
}

void WarpReader::barrier(PtxInstruction& instruction) {
  ir::Operation& operation = instruction.operation;
  Modifiers& modifiers = instruction.modifiers;
  modifiers.take("cta");
  modifiers.take("aligned");
  if (modifiers.take("warp")) {
    operation.opcode = Opcode::bar_warp;
    operation.sync = modifiers.take("sync");
    operation.type = Type::b32;
    instruction.expect_arguments(1, 1);
    operation.sources.push_back(operands_.source(instruction, instruction.argument(0), Type::b32));
    code_.finish(instruction);
    return;
  }
  operation.type = Type::b32;
  std::size_t first = 0;
  ir::BarrierMode mode = ir::BarrierMode::sync;
  if (modifiers.take("arrive")) {
    mode = ir::BarrierMode::arrive;
  } else if (modifiers.take("red")) {
    first = 1;
    mode = modifiers.take("popc")  ? ir::BarrierMode::reduce_popc
           : modifiers.take("and") ? ir::BarrierMode::reduce_and
                                   : ir::BarrierMode::reduce_or;
    modifiers.take("or");
    operation.type = modifiers.take_type();
    if (operation.type == Type::none) instruction.lacks_type();
  } else if (!modifiers.take("sync")) {
    instruction.fail("is not supported");
  }
  operation.mode = static_cast<std::uint16_t>(mode);
  instruction.expect_arguments(first + 1 + first, first + 2 + first);
  const std::size_t given = instruction.arguments();
  if (mode == ir::BarrierMode::arrive && given != 2) instruction.fail("needs a number of threads");
  if (first == 1)
    operation.destinations.push_back(
        mode == ir::BarrierMode::reduce_popc
            ? operands_.destination(instruction, instruction.argument(0), Type::b32)
            : operands_.predicate(instruction, instruction.argument(0)));
  for (std::size_t i = first; i < given - first; ++i)
    operation.sources.push_back(operands_.source(instruction, instruction.argument(i), Type::b32));
  const Argument& number = instruction.argument(first);
  if (number.kind == Argument::Kind::integer && number.bits > 15)
    instruction.fail(number.at, "barriers are numbered 0 to 15",
                     "use one number again after its barrier");
  if (first == 1)
    operation.sources.push_back(operands_.predicate(instruction, instruction.argument(given - 1)));
  code_.finish(instruction);
}

}  // namespace lockstep::isa
