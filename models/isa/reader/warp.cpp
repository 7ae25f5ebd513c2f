/// Shuffles, votes, matches, reductions over a warp, and barriers.
/// Source: PTX ISA 8.x, section 9.7.13 "Parallel Synchronization and Communication Instructions".
#include "models/isa/reader/function_translator.hpp"
#include "models/isa/semantics/semantics.hpp"

namespace lockstep::isa {

using Argument = syntax::Operand;

bool FunctionTranslator::warp(Current& current) {
  const std::string& base = current.modifiers.base();
  if (base == "shfl") {
    shuffle(current);
  } else if (base == "vote" || base == "activemask" || base == "elect") {
    vote(current);
  } else if (base == "match" || base == "redux") {
    match_or_reduce(current);
  } else if (base == "bar" || base == "barrier") {
    barrier(current);
  } else {
    return false;
  }
  return true;
}

void FunctionTranslator::shuffle(Current& current) {
  static constexpr std::pair<std::string_view, std::uint16_t> modes[] = {
      {"up", static_cast<std::uint16_t>(ShuffleMode::up)},
      {"down", static_cast<std::uint16_t>(ShuffleMode::down)},
      {"bfly", static_cast<std::uint16_t>(ShuffleMode::bfly)},
      {"idx", static_cast<std::uint16_t>(ShuffleMode::idx)}};
  ir::Operation& operation = current.operation;
  operation.opcode = Opcode::shfl;
  operation.sync = current.modifiers.take("sync");
  operation.mode = current.modifiers.take_one(modes, std::uint16_t{0xffff});
  operation.type = current.modifiers.take_type();
  if (operation.mode == 0xffff || operation.type == Type::none)
    fail(current, "needs a mode and a type");
  const std::size_t operands = operation.sync ? 5 : 4;
  expect_arguments(current, operands, operands);
  register_and_predicate(current, argument(current, 0));
  for (std::size_t i = 1; i < operands; ++i)
    operation.sources.push_back(source(current, argument(current, i), Type::b32));
  finish(current);
}

/// A register, or a register and a predicate as r|p.
void FunctionTranslator::register_and_predicate(Current& current, const syntax::Operand& to) {
  ir::Operation& operation = current.operation;
  const bool pair = to.kind == Argument::Kind::pair;
  operation.destinations.push_back(destination(current, pair ? to.children[0] : to, Type::b32));
  if (pair) operation.destinations.push_back(predicate(current, to.children[1]));
}

void FunctionTranslator::vote(Current& current) {
  static constexpr std::pair<std::string_view, std::uint16_t> votes[] = {
      {"all", static_cast<std::uint16_t>(VoteMode::all)},
      {"any", static_cast<std::uint16_t>(VoteMode::any)},
      {"uni", static_cast<std::uint16_t>(VoteMode::uni)},
      {"ballot", static_cast<std::uint16_t>(VoteMode::ballot)}};
  ir::Operation& operation = current.operation;
  Modifiers& modifiers = current.modifiers;
  const std::string& base = modifiers.base();
  operation.sync = modifiers.take("sync");
  if (base == "activemask") {
    operation.opcode = Opcode::activemask;
    operation.type = modifiers.take_type();
    expect_arguments(current, 1, 1);
    register_and_predicate(current, argument(current, 0));
  } else if (base == "elect") {
    operation.opcode = Opcode::elect;
    operation.type = Type::b32;
    expect_arguments(current, 2, 2);
    register_and_predicate(current, argument(current, 0));
    operation.sources.push_back(source(current, argument(current, 1), Type::b32));
  } else {
    operation.opcode = Opcode::vote;
    operation.mode = modifiers.take_one(votes, std::uint16_t{0xffff});
    operation.type = modifiers.take_type();
    if (operation.mode == 0xffff) fail(current, "needs a mode");
    const std::size_t operands = operation.sync ? 3 : 2;
    expect_arguments(current, operands, operands);
    const Argument& to = argument(current, 0);
    if (operation.type == Type::pred && to.kind != Argument::Kind::pair) {
      operation.destinations.push_back(predicate(current, to));
    } else {
      register_and_predicate(current, to);
    }
    operation.sources.push_back(predicate(current, argument(current, 1)));
    if (operation.sync)
      operation.sources.push_back(source(current, argument(current, 2), Type::b32));
  }
  finish(current);
}

void FunctionTranslator::match_or_reduce(Current& current) {
  static constexpr std::pair<std::string_view, std::uint16_t> matches[] = {
      {"any", static_cast<std::uint16_t>(MatchMode::any)},
      {"all", static_cast<std::uint16_t>(MatchMode::all)}};
  static constexpr std::pair<std::string_view, AtomicOperation> reductions[] = {
      {"add", AtomicOperation::add},       {"min", AtomicOperation::min},
      {"max", AtomicOperation::max},       {"and", AtomicOperation::logical_and},
      {"or", AtomicOperation::logical_or}, {"xor", AtomicOperation::logical_xor}};
  ir::Operation& operation = current.operation;
  Modifiers& modifiers = current.modifiers;
  const bool match = modifiers.base() == "match";
  operation.sync = modifiers.take("sync");
  operation.opcode = match ? Opcode::match : Opcode::redux;
  if (match) {
    operation.mode = modifiers.take_one(matches, std::uint16_t{0});
  } else {
    operation.atomic = modifiers.take_one(reductions, AtomicOperation::none);
  }
  operation.type = modifiers.take_type();
  if (operation.type == Type::none) fail(current, "needs a type");
  expect_arguments(current, 3, 3);
  register_and_predicate(current, argument(current, 0));
  operation.sources.push_back(source(current, argument(current, 1), operation.type));
  operation.sources.push_back(source(current, argument(current, 2), Type::b32));
  finish(current);
}

void FunctionTranslator::barrier(Current& current) {
  ir::Operation& operation = current.operation;
  Modifiers& modifiers = current.modifiers;
  if (modifiers.has("cluster") || modifiers.has("cta::cluster"))
    fail(current, "clusters are not supported");
  modifiers.take("cta");
  modifiers.take("aligned");
  if (modifiers.take("warp")) {
    operation.opcode = Opcode::bar_warp;
    operation.sync = modifiers.take("sync");
    operation.type = Type::b32;
    expect_arguments(current, 1, 1);
    operation.sources.push_back(source(current, argument(current, 0), Type::b32));
    finish(current);
    return;
  }
  operation.opcode = Opcode::bar;
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
    if (operation.type == Type::none) fail(current, "needs a type");
  } else if (!modifiers.take("sync")) {
    fail(current, "is not supported");
  }
  operation.mode = static_cast<std::uint16_t>(mode);
  expect_arguments(current, first + 1 + first, first + 2 + first);
  const std::size_t given = current.statement->operands.size();
  if (mode == ir::BarrierMode::arrive && given != 2) fail(current, "needs a number of threads");
  if (first == 1)
    operation.destinations.push_back(mode == ir::BarrierMode::reduce_popc
                                         ? destination(current, argument(current, 0), Type::b32)
                                         : predicate(current, argument(current, 0)));
  for (std::size_t i = first; i < given - first; ++i)
    operation.sources.push_back(source(current, argument(current, i), Type::b32));
  const Argument& number = argument(current, first);
  if (number.kind == Argument::Kind::integer && number.bits > 15)
    fail(number.at, "barriers are numbered 0 to 15");
  if (first == 1) operation.sources.push_back(predicate(current, argument(current, given - 1)));
  finish(current);
}

}  // namespace lockstep::isa
