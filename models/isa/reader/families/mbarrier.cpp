/// Barriers that are objects in shared memory: mbarrier.
///
/// The object is one word (barriers/mbarrier.hpp).  init, inval and arrive are atomics of shared
/// memory; test_wait and try_wait are operations of their own, which say 0 or 1 for the parity of a
/// phase; a state, the word as it stood before an arrival, holds it in its top bit.
/// Source: PTX ISA 8.x, "Parallel Synchronization and Communication Instructions: mbarrier".
///
/// Arrivals and transactions may be at barriers of other blocks of the cluster, where they return
/// nothing.
///
/// Cost model: init, inval, arrive and transactions are shared atomics of 64 bits; a wait is a load
/// and an integer instruction, and one that compares.
#include "models/isa/reader/families/mbarrier.hpp"

#include "models/isa/barriers/mbarrier.hpp"
#include "models/isa/reader/families/qualifiers.hpp"
#include "models/isa/reader/translation/expansion.hpp"

namespace lockstep::isa {

void MbarrierReader::mbarrier(PtxInstruction& instruction) {
  Modifiers& modifiers = instruction.modifiers;
  if (modifiers.take("init")) {
    change(instruction, AtomicOperation::mbarrier_init);
  } else if (modifiers.take("inval")) {
    change(instruction, AtomicOperation::mbarrier_inval);
  } else if (modifiers.take("arrive")) {
    arrive(instruction, false);
  } else if (modifiers.take("arrive_drop")) {
    arrive(instruction, true);
  } else if (modifiers.take("test_wait")) {
    wait(instruction, PhaseWaitMode::test);
  } else if (modifiers.take("try_wait")) {
    wait(instruction, PhaseWaitMode::suspend);
  } else if (modifiers.take("pending_count")) {
    pending_count(instruction);
  } else if (modifiers.take("expect_tx")) {
    change(instruction, AtomicOperation::expect_transactions);
  } else if (modifiers.take("complete_tx")) {
    change(instruction, AtomicOperation::complete_transactions);
  } else {
    instruction.fail("is no instruction");
  }
}

void MbarrierReader::qualifiers(PtxInstruction& instruction) {
  read_qualifiers(instruction);
  ir::Operation& operation = instruction.operation;
  operation.type = Type::b64;
  if (!instruction.modifiers.take("b64")) instruction.fail("needs the type .b64");
  const bool is_remote = operation.space == Space::shared_cluster;
  if (operation.space != Space::generic && operation.space != Space::shared && !is_remote)
    instruction.fail("stands in shared memory only");
  if (operation.scope == Scope::none) operation.scope = is_remote ? Scope::cluster : Scope::cta;
  if (operation.scope != Scope::cta && operation.scope != Scope::cluster)
    instruction.fail("has the scope .cta or .cluster");
}

void MbarrierReader::refuse_remote(const PtxInstruction& instruction) const {
  if (instruction.operation.space == Space::shared_cluster)
    instruction.fail("is for barriers of the block itself: write .shared::cta");
}

/// Returns the ordering: an SM keeps its own accesses in order, so that an operation orders only
/// beyond the SM.
Ordering MbarrierReader::ordering_of(const ir::Operation& operation, Ordering otherwise) {
  if (operation.scope == Scope::cta || operation.ordering == Ordering::relaxed)
    return Ordering::relaxed;
  return otherwise;
}

/// Returns how many threads arrive; one if nothing is said.
ir::Operand MbarrierReader::count(PtxInstruction& instruction, std::size_t which) {
  if (which >= instruction.arguments()) return ir::immediate_operand(1);
  const ir::Operand count = operands_.source(instruction, instruction.argument(which), Type::u32);
  if (count.kind == Kind::immediate) {
    const auto value = static_cast<std::uint64_t>(count.value);
    if (value == 0 || value > MbarrierWord::most)
      instruction.fail(instruction.argument(which).at, "a count is 1 to 1048575",
                       "give the number of threads that arrive");
  }
  return widened(instruction, count);
}

ir::Operand MbarrierReader::bytes(PtxInstruction& instruction, std::size_t which) {
  return widened(instruction,
                 operands_.source(instruction, instruction.argument(which), Type::u32));
}

ir::Operand MbarrierReader::widened(PtxInstruction& instruction, const ir::Operand& count) {
  if (count.kind == Kind::immediate) return count;
  const ir::Operand wide = ir::register_operand(code_.new_register(Type::b64));
  widen(code_, instruction, count, wide, Type::u64);
  return wide;
}

void MbarrierReader::change(PtxInstruction& instruction, AtomicOperation atomic) {
  qualifiers(instruction);
  const bool transacts = atomic == AtomicOperation::expect_transactions ||
                         atomic == AtomicOperation::complete_transactions;
  const std::size_t arguments = transacts || atomic == AtomicOperation::mbarrier_init ? 2 : 1;
  instruction.expect_arguments(arguments, arguments);
  instruction.operation.opcode = Opcode::red;
  instruction.operation.atomic = atomic;
  instruction.operation.ordering = Ordering::relaxed;
  if (!transacts) refuse_remote(instruction);
  operands_.address(instruction, instruction.argument(0));
  instruction.operation.sources.push_back(transacts ? bytes(instruction, 1)
                                                    : count(instruction, 1));
  code_.finish(instruction);
}

void MbarrierReader::arrive(PtxInstruction& instruction, bool drops) {
  ir::Operation& operation = instruction.operation;
  const bool expects = instruction.modifiers.take("expect_tx");
  const bool incomplete = instruction.modifiers.take("noComplete");
  qualifiers(instruction);
  instruction.expect_arguments(incomplete || expects ? 3 : 2, 3);
  const bool is_remote = operation.space == Space::shared_cluster;
  const Argument& state = instruction.argument(0);
  if (is_remote && state.text != "_")
    instruction.fail(state.at, "an arrival at another block's barrier returns no state",
                     "write _ in its place");
  if (is_remote && incomplete) instruction.fail(".noComplete is for barriers of the block itself");
  operation.opcode = is_remote ? Opcode::red : Opcode::atom;
  operation.atomic =
      expects ? (drops ? AtomicOperation::arrive_and_expect_and_drop
                       : AtomicOperation::arrive_and_expect)
      : incomplete
          ? (drops ? AtomicOperation::arrive_drop_incomplete : AtomicOperation::arrive_incomplete)
          : (drops ? AtomicOperation::arrive_drop : AtomicOperation::arrive);
  operation.ordering = ordering_of(operation, Ordering::release);
  if (!is_remote)
    operation.destinations.push_back(operands_.destination(instruction, state, Type::b64));
  operands_.address(instruction, instruction.argument(1));
  operation.sources.push_back(expects ? bytes(instruction, 2) : count(instruction, 2));
  code_.finish(instruction);
}

/// Returns the parity of the phase that a state belongs to.
ir::Operand MbarrierReader::parity_of(PtxInstruction& instruction, const ir::Operand& state) {
  return narrow(code_, instruction,
                compute(code_, instruction, Opcode::shr, Type::u64, state,
                        ir::immediate_operand(MbarrierWord::parity_bit)),
                Type::u64);
}

void MbarrierReader::wait(PtxInstruction& instruction, PhaseWaitMode mode) {
  const bool by_parity = instruction.modifiers.take("parity");
  qualifiers(instruction);
  const bool may_be_limited = mode == PhaseWaitMode::suspend;
  instruction.expect_arguments(3, may_be_limited ? 4 : 3);
  instruction.reject_rest();
  refuse_remote(instruction);
  const ir::Operand complete = operands_.predicate(instruction, instruction.argument(0));
  const ir::Operand given =
      operands_.source(instruction, instruction.argument(2), by_parity ? Type::u32 : Type::b64);
  const ir::Operand parity = by_parity ? given : parity_of(instruction, given);
  ir::Operand limit;
  if (instruction.arguments() == 4)
    limit = operands_.source(instruction, instruction.argument(3), Type::u32);
  operands_.address(instruction, instruction.argument(1));
  const ir::Operand result = ir::register_operand(code_.new_register(Type::b32));
  ir::Operation wait = instruction.operation;
  wait.opcode = Opcode::mbarrier_wait;
  wait.mode = static_cast<std::uint16_t>(mode);
  wait.ordering = Ordering::acquire;
  wait.sources.push_back(parity);
  if (limit.kind != Kind::none) wait.sources.push_back(limit);
  wait.destinations = {result};
  code_.append(std::move(wait));
  ir::Operation compare = instruction.plain(Opcode::setp, Type::u32);
  compare.guard = instruction.operation.guard;
  compare.comparison = Comparison::ne;
  compare.destinations = {complete};
  compare.sources = {result, ir::immediate_operand(0)};
  code_.append(std::move(compare));
}

void MbarrierReader::pending_count(PtxInstruction& instruction) {
  if (!instruction.modifiers.take("b64")) instruction.fail("needs the type .b64");
  instruction.expect_arguments(2, 2);
  instruction.reject_rest();
  const ir::Operand to = operands_.destination(instruction, instruction.argument(0), Type::b32);
  const ir::Operand state = operands_.source(instruction, instruction.argument(1), Type::b64);
  const ir::Operand count = compute(code_, instruction, Opcode::and_, Type::b32,
                                    narrow(code_, instruction, state, Type::u64),
                                    ir::immediate_operand(MbarrierWord::most));
  widen(code_, instruction, count, to, Type::b32);
}

}  // namespace lockstep::isa
