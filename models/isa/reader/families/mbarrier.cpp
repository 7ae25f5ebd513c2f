/// Barriers that are objects in shared memory: mbarrier.
///
/// The object is one word (MbarrierWord).  init stores it, arrive is an atomic of shared memory,
/// test_wait loads it and compares its phase with that of a state, or with a parity; a state is the
/// word as it stood before an arrival.
/// Source: PTX ISA 8.x, "Parallel Synchronization and Communication Instructions: mbarrier".
///
/// Simplified: try_wait does not wait, which it need not.  Transactions (expect_tx, complete_tx)
/// and arrivals at other blocks' barriers are refused, like bulk copies and clusters. inval
/// is no instruction. Cost model: arrive is a shared atomic of 64 bits; a wait is a load and three
/// integer instructions.
#include "models/isa/reader/families/mbarrier.hpp"

#include "models/isa/atomic.hpp"
#include "models/isa/reader/families/qualifiers.hpp"
#include "models/isa/reader/translation/expansion.hpp"

namespace lockstep::isa {

void MbarrierReader::mbarrier(PtxInstruction& instruction) {
  Modifiers& modifiers = instruction.modifiers;
  if (modifiers.take("init")) {
    init(instruction);
  } else if (modifiers.take("inval")) {
    invalidate(instruction);
  } else if (modifiers.take("arrive")) {
    arrive(instruction, false);
  } else if (modifiers.take("arrive_drop")) {
    arrive(instruction, true);
  } else if (modifiers.take("test_wait") || modifiers.take("try_wait")) {
    wait(instruction);
  } else if (modifiers.take("pending_count")) {
    pending_count(instruction);
  } else {
    instruction.fail("is not supported in this release (transactions belong to bulk copies)");
  }
}

void MbarrierReader::invalidate(PtxInstruction& instruction) {
  qualifiers(instruction);
  instruction.expect_arguments(1, 1);
  operands_.address(instruction, instruction.argument(0));
  instruction.reject_rest();
}

void MbarrierReader::qualifiers(PtxInstruction& instruction) {
  read_qualifiers(instruction);
  ir::Operation& operation = instruction.operation;
  operation.type = Type::b64;
  if (!instruction.modifiers.take("b64")) instruction.fail("needs the type .b64");
  if (operation.space != Space::generic && operation.space != Space::shared)
    instruction.fail("stands in shared memory only");
  if (operation.scope != Scope::none && operation.scope != Scope::cta)
    instruction.fail("only the scope .cta is supported");
  operation.scope = Scope::cta;
}

/// How many threads: in the first field, or in the first two.
ir::Operand MbarrierReader::counts(PtxInstruction& instruction, std::size_t which, bool twice) {
  constexpr unsigned shift = MbarrierWord::count_bits;
  if (which >= instruction.arguments())
    return ir::immediate_operand(twice ? std::uint64_t{1} << shift | 1 : 1);
  const ir::Operand count = operands_.source(instruction, instruction.argument(which), Type::u32);
  if (count.kind == Kind::immediate) {
    const auto value = static_cast<std::uint64_t>(count.value);
    if (value == 0 || value > MbarrierWord::most)
      instruction.fail(instruction.argument(which).at, "a count is 1 to 1048575",
                       "give the number of threads that arrive");
    return ir::immediate_operand(twice ? value << shift | value : value);
  }
  const ir::Operand wide = ir::register_operand(code_.new_register(Type::b64));
  widen(code_, instruction, count, wide, Type::u64);
  if (!twice) return wide;
  const ir::Operand above =
      compute(code_, instruction, Opcode::shl, Type::b64, wide, ir::immediate_operand(shift));
  return compute(code_, instruction, Opcode::or_, Type::b64, above, wide);
}

void MbarrierReader::init(PtxInstruction& instruction) {
  qualifiers(instruction);
  instruction.expect_arguments(2, 2);
  instruction.operation.opcode = Opcode::st;
  operands_.address(instruction, instruction.argument(0));
  instruction.operation.sources.push_back(counts(instruction, 1, true));
  code_.finish(instruction);
}

void MbarrierReader::arrive(PtxInstruction& instruction, bool drops) {
  ir::Operation& operation = instruction.operation;
  const bool incomplete = instruction.modifiers.take("noComplete");
  qualifiers(instruction);
  instruction.expect_arguments(incomplete ? 3 : 2, 3);
  operation.opcode = Opcode::atom;
  operation.atomic = AtomicOperation::arrive;
  operation.ordering = Ordering::relaxed;  // an SM keeps its own order
  operation.destinations.push_back(
      operands_.destination(instruction, instruction.argument(0), Type::b64));
  operands_.address(instruction, instruction.argument(1));
  operation.sources.push_back(counts(instruction, 2, drops));
  code_.finish(instruction);
}

void MbarrierReader::wait(PtxInstruction& instruction) {
  const bool by_parity = instruction.modifiers.take("parity");
  qualifiers(instruction);
  instruction.expect_arguments(3, 4);  // the fourth is a hint for how long to wait
  instruction.reject_rest();
  const ir::Operand complete = operands_.predicate(instruction, instruction.argument(0));
  const ir::Operand given =
      operands_.source(instruction, instruction.argument(2), by_parity ? Type::u32 : Type::b64);
  const ir::Operand word = ir::register_operand(code_.new_register(Type::b64));
  operands_.address(instruction, instruction.argument(1));
  ir::Operation load = instruction.operation;
  load.opcode = Opcode::ld;
  load.ordering = Ordering::acquire;
  load.destinations = {word};
  code_.append(std::move(load));
  const ir::Operand shift = ir::immediate_operand(2 * MbarrierWord::count_bits);
  const auto phase_of = [&](const ir::Operand& value) {
    return narrow(code_, instruction,
                  compute(code_, instruction, Opcode::shr, Type::u64, value, shift), Type::u64);
  };
  const ir::Operand phase =
      by_parity ? compute(code_, instruction, Opcode::and_, Type::b32, phase_of(word),
                          ir::immediate_operand(1))
                : phase_of(compute(code_, instruction, Opcode::xor_, Type::b64, word, given));
  ir::Operation compare = instruction.plain(Opcode::setp, Type::u32);
  compare.guard = instruction.operation.guard;
  compare.comparison = Comparison::ne;
  compare.destinations = {complete};
  compare.sources = {phase, by_parity ? given : ir::immediate_operand(0)};
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
