/// Asynchronous copies of up to 16 bytes a thread, their groups, and arrivals behind them.
///
/// A copy is one operation with two addresses: sources[0] is the global one, sources[1] the shared
/// one, and sources[2], if given, the number of bytes read; the rest of `elements` times 4 bytes
/// becomes zero.  ignore-src is translated into that number.
/// Source: PTX ISA 8.x, "Data Movement and Conversion Instructions: Asynchronous copy";
/// modern-isa.md, section 3.1.
///
/// An arrival behind copies (cp.async.mbarrier.arrive) is an atomic of shared memory that has its
/// effect later.
///
/// Simplified: prefetch sizes are read and have no effect.
#include "models/isa/reader/families/async_copy.hpp"

#include "models/isa/reader/families/qualifiers.hpp"
#include "models/isa/reader/translation/expansion.hpp"

namespace lockstep::isa {

void AsyncCopyReader::cp(PtxInstruction& instruction) {
  Modifiers& modifiers = instruction.modifiers;
  if (!modifiers.take("async")) {
    instruction.refuse_known();
    instruction.fail("is no instruction");
  }
  if (modifiers.take("bulk")) return bulk_.copy(instruction);
  if (modifiers.take("commit_group")) return group(instruction, ir::CopyGroupStep::commit);
  if (modifiers.take("wait_group")) return group(instruction, ir::CopyGroupStep::wait);
  if (modifiers.take("wait_all")) return group(instruction, ir::CopyGroupStep::wait_all);
  if (modifiers.take("mbarrier")) return arrive(instruction);
  copy(instruction);
}

void AsyncCopyReader::copy(PtxInstruction& instruction) {
  ir::Operation& operation = instruction.operation;
  Modifiers& modifiers = instruction.modifiers;
  const bool by_l2 = modifiers.take("cg");
  if (!by_l2 && !modifiers.take("ca")) instruction.fail("needs .ca or .cg");
  if (!modifiers.take("shared") && !modifiers.take("shared::cta"))
    instruction.fail("copies to .shared only");
  if (!modifiers.take("global")) instruction.fail("copies from .global only");
  const bool hinted = modifiers.take("L2::cache_hint");
  modifiers.drop_starting("L2::");
  instruction.expect_arguments(3 + (hinted ? 1 : 0), 4 + (hinted ? 1 : 0));
  const Argument& size = instruction.argument(2);
  const auto bytes = operands_.immediate(instruction, size, Type::u32).value;
  if ((bytes != 4 && bytes != 8 && bytes != 16) || (by_l2 && bytes != 16))
    instruction.fail(size.at,
                     "a copy has " + std::string(by_l2 ? "16 bytes with .cg" : "4, 8 or 16 bytes"),
                     "split or pad the copy");
  const ir::Operand to = shared_address(code_, operands_, instruction, instruction.argument(0));
  const std::size_t given = instruction.arguments() - (hinted ? 1 : 0);
  ir::Operand read;
  if (given == 4)
    read = source_bytes(instruction, instruction.argument(3), static_cast<unsigned>(bytes));
  if (hinted) operation.mode = read_cache_hint(instruction, code_, operands_);
  operation.opcode = Opcode::cp_async;
  operation.type = Type::b32;
  operation.elements = static_cast<std::uint8_t>(bytes / 4);
  operation.space = Space::global;
  operation.cache = by_l2 ? CacheOperator::cg : CacheOperator::ca;
  operation.sources.clear();
  operands_.address(instruction, instruction.argument(1));
  operation.sources.push_back(to);
  if (read.kind != Kind::none) operation.sources.push_back(read);
  code_.finish(instruction);
}

ir::Operand shared_address(Translation& code, OperandReader& operands, PtxInstruction& instruction,
                           const syntax::Operand& argument) {
  ir::Operation& operation = instruction.operation;
  operands.address(instruction, argument);
  const ir::Operand base = operation.sources.back();
  const std::int64_t offset = operation.offset;
  operation.sources.pop_back();
  operation.offset = 0;
  ir::Operand low = base;
  low.type = Type::none;
  if (base.kind == ir::Operand::Kind::reg && base.type == Type::b64)
    low = narrow(code, instruction, low, Type::u64);
  if (low.kind == ir::Operand::Kind::reg && offset == 0) return low;
  return compute(code, instruction, Opcode::add, Type::u32, low, ir::immediate_operand(offset));
}

ir::Operand AsyncCopyReader::source_bytes(PtxInstruction& instruction, const Argument& argument,
                                          unsigned bytes) {
  const bool is_predicate = argument.kind == Argument::Kind::name &&
                            code_.lookup(argument.text) != nullptr &&
                            code_.lookup(argument.text)->kind == Symbol::Kind::reg &&
                            code_.lookup(argument.text)->type == Type::pred;
  if (!is_predicate) return operands_.source(instruction, argument, Type::u32);
  ir::Operation choose = instruction.plain(Opcode::selp, Type::b32);
  choose.guard = instruction.operation.guard;
  choose.sources = {ir::immediate_operand(0), ir::immediate_operand(bytes),
                    operands_.predicate(instruction, argument)};
  choose.destinations = {ir::register_operand(code_.new_register(Type::b32))};
  const ir::Operand result = choose.destinations[0];
  code_.append(std::move(choose));
  return result;
}

void finish_group_step(Translation& code, OperandReader& operands, PtxInstruction& instruction,
                       bool names_groups, const std::string& name, std::uint32_t most) {
  instruction.expect_arguments(names_groups ? 1 : 0, names_groups ? 1 : 0);
  if (names_groups) {
    const auto& newest = instruction.argument(0);
    const std::int64_t value = operands.immediate(instruction, newest, Type::u32).value;
    if (value < 0 || value > most)
      instruction.fail(newest.at, name + " names 0 to " + std::to_string(most) + " groups",
                       "give how many of the newest groups may be under way");
    instruction.operation.immediate = static_cast<std::uint32_t>(value);
  }
  code.finish(instruction);
}

void AsyncCopyReader::group(PtxInstruction& instruction, ir::CopyGroupStep step) {
  instruction.operation.opcode = Opcode::cp_async_group;
  instruction.operation.mode = static_cast<std::uint16_t>(step);
  finish_group_step(code_, operands_, instruction, step == ir::CopyGroupStep::wait,
                    "cp.async.wait_group");
}

void AsyncCopyReader::arrive(PtxInstruction& instruction) {
  Modifiers& modifiers = instruction.modifiers;
  if (!modifiers.take("arrive")) instruction.fail("is not supported in this release");
  const bool counted = modifiers.take("noinc");
  const bool is_shared = modifiers.take("shared") || modifiers.take("shared::cta");
  const Space space = is_shared ? Space::shared : Space::generic;
  if (!modifiers.take("b64")) instruction.fail("needs the type .b64");
  instruction.expect_arguments(1, 1);
  instruction.reject_rest();
  ir::Operation& operation = instruction.operation;
  operation.opcode = Opcode::red;
  operation.type = Type::b64;
  operation.space = space;
  operation.scope = Scope::cta;
  operation.atomic =
      counted ? AtomicOperation::arrive_behind_copies : AtomicOperation::join_behind_copies;
  operation.ordering = Ordering::relaxed;  // an SM keeps its own accesses in order
  operands_.address(instruction, instruction.argument(0));
  operation.sources.push_back(ir::immediate_operand(1));
  code_.finish(instruction);
}

}  // namespace lockstep::isa
