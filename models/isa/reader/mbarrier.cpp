/// Barriers that are objects in shared memory: mbarrier.
///
/// The object is one word (MbarrierWord).  init stores it, arrive is an atomic of shared memory,
/// test_wait loads it and compares its phase with that of a state, or with a parity; a state is the
/// word as it stood before an arrival.
/// Source: PTX ISA 8.x, "Parallel Synchronization and Communication Instructions: mbarrier".
///
/// Simplified: try_wait does not wait, which it need not.  Transactions (expect_tx, complete_tx)
/// and arrivals at other blocks' barriers are refused, like asynchronous copies and clusters. inval
/// is no instruction. Cost model: arrive is a shared atomic of 64 bits; a wait is a load and three
/// integer instructions.
#include "models/isa/atomic.hpp"
#include "models/isa/reader/function_translator.hpp"

namespace lockstep::isa {

using Kind = ir::Operand::Kind;

bool FunctionTranslator::mbarrier(Current& current) {
  Modifiers& modifiers = current.modifiers;
  if (modifiers.base() != "mbarrier") return false;
  if (modifiers.take("init")) {
    mbarrier_init(current);
  } else if (modifiers.take("inval")) {
    mbarrier_qualifiers(current);
    expect_arguments(current, 1, 1);
    address(current, argument(current, 0));
    reject_rest(current);
  } else if (modifiers.take("arrive")) {
    mbarrier_arrive(current, false);
  } else if (modifiers.take("arrive_drop")) {
    mbarrier_arrive(current, true);
  } else if (modifiers.take("test_wait") || modifiers.take("try_wait")) {
    mbarrier_wait(current);
  } else if (modifiers.take("pending_count")) {
    mbarrier_pending_count(current);
  } else {
    fail(current, "is not supported");
  }
  return true;
}

void FunctionTranslator::mbarrier_qualifiers(Current& current) {
  memory_qualifiers(current);
  ir::Operation& operation = current.operation;
  operation.type = Type::b64;
  if (!current.modifiers.take("b64")) fail(current, "needs the type .b64");
  if (operation.space != Space::generic && operation.space != Space::shared)
    fail(current, "stands in shared memory only");
  if (operation.scope != Scope::none && operation.scope != Scope::cta)
    fail(current, "only the scope .cta is supported");
  operation.scope = Scope::cta;
}

/// How many threads: in the first field, or in the first two.
ir::Operand FunctionTranslator::mbarrier_counts(Current& current, std::size_t which, bool twice) {
  constexpr unsigned shift = MbarrierWord::count_bits;
  if (which >= current.statement->operands.size())
    return ir::immediate_operand(twice ? std::uint64_t{1} << shift | 1 : 1);
  const ir::Operand count = source(current, argument(current, which), Type::u32);
  if (count.kind == Kind::immediate) {
    const auto value = static_cast<std::uint64_t>(count.value);
    if (value == 0 || value > MbarrierWord::most)
      fail(argument(current, which).at, "a count is 1 to 1048575");
    return ir::immediate_operand(twice ? value << shift | value : value);
  }
  const ir::Operand wide = ir::register_operand(new_register(Type::b64));
  widen(current, count, wide, Type::u64);
  if (!twice) return wide;
  const ir::Operand above =
      compute(current, Opcode::shl, Type::b64, wide, ir::immediate_operand(shift));
  return compute(current, Opcode::or_, Type::b64, above, wide);
}

void FunctionTranslator::mbarrier_init(Current& current) {
  mbarrier_qualifiers(current);
  expect_arguments(current, 2, 2);
  current.operation.opcode = Opcode::st;
  address(current, argument(current, 0));
  current.operation.sources.push_back(mbarrier_counts(current, 1, true));
  finish(current);
}

void FunctionTranslator::mbarrier_arrive(Current& current, bool drops) {
  ir::Operation& operation = current.operation;
  const bool incomplete = current.modifiers.take("noComplete");
  mbarrier_qualifiers(current);
  expect_arguments(current, incomplete ? 3 : 2, 3);
  operation.opcode = Opcode::atom;
  operation.atomic = AtomicOperation::arrive;
  operation.ordering = Ordering::relaxed;  // an SM keeps its own order
  operation.destinations.push_back(destination(current, argument(current, 0), Type::b64));
  address(current, argument(current, 1));
  operation.sources.push_back(mbarrier_counts(current, 2, drops));
  finish(current);
}

void FunctionTranslator::mbarrier_wait(Current& current) {
  const bool by_parity = current.modifiers.take("parity");
  mbarrier_qualifiers(current);
  expect_arguments(current, 3, 4);  // the fourth is a hint for how long to wait
  reject_rest(current);
  const ir::Operand complete = predicate(current, argument(current, 0));
  const ir::Operand given =
      source(current, argument(current, 2), by_parity ? Type::u32 : Type::b64);
  const ir::Operand word = ir::register_operand(new_register(Type::b64));
  address(current, argument(current, 1));
  ir::Operation load = current.operation;
  load.opcode = Opcode::ld;
  load.ordering = Ordering::acquire;
  load.destinations = {word};
  append(std::move(load));
  const ir::Operand shift = ir::immediate_operand(2 * MbarrierWord::count_bits);
  const auto phase_of = [&](const ir::Operand& value) {
    return narrow(current, compute(current, Opcode::shr, Type::u64, value, shift), Type::u64);
  };
  const ir::Operand phase =
      by_parity
          ? compute(current, Opcode::and_, Type::b32, phase_of(word), ir::immediate_operand(1))
          : phase_of(compute(current, Opcode::xor_, Type::b64, word, given));
  ir::Operation compare = plain(current, Opcode::setp, Type::u32);
  compare.guard = current.operation.guard;
  compare.comparison = Comparison::ne;
  compare.destinations = {complete};
  compare.sources = {phase, by_parity ? given : ir::immediate_operand(0)};
  append(std::move(compare));
}

void FunctionTranslator::mbarrier_pending_count(Current& current) {
  if (!current.modifiers.take("b64")) fail(current, "needs the type .b64");
  expect_arguments(current, 2, 2);
  reject_rest(current);
  const ir::Operand to = destination(current, argument(current, 0), Type::b32);
  const ir::Operand state = source(current, argument(current, 1), Type::b64);
  const ir::Operand count =
      compute(current, Opcode::and_, Type::b32, narrow(current, state, Type::u64),
              ir::immediate_operand(MbarrierWord::most));
  widen(current, count, to, Type::b32);
}

}  // namespace lockstep::isa
