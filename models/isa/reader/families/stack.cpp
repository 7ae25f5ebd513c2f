/// Memory that threads take from their stack while they run: alloca, stacksave, stackrestore.
///
/// Behind all variables, each thread's local memory has a range whose used part ends at a pointer
/// in a register of its own; alloca moves it up, stackrestore sets it.  A device function that
/// allocates sets it back when it returns.
/// Source: PTX ISA 7.3 and later, "Stack Manipulation Instructions".
///
/// Simplified: the range has a fixed size (stack_bytes in models/isa/encode/encode.hpp); a thread
/// that takes more gets an error when it touches the memory beyond.
/// Cost model: alloca is four integer instructions, the others are moves.
#include "models/isa/reader/families/stack.hpp"

#include <algorithm>
#include <bit>

#include "models/isa/reader/translation/expansion.hpp"

namespace lockstep::isa {

Type StackReader::type_of(PtxInstruction& instruction) const {
  const Type type = instruction.modifiers.take_type();
  if (type != Type::u32 && type != Type::u64) instruction.fail("needs a type: .u32 or .u64");
  instruction.reject_rest();
  return type;
}

void StackReader::save(PtxInstruction& instruction) {
  const Type type = type_of(instruction);
  instruction.expect_arguments(1, 1);
  const ir::Operand to = operands_.destination(instruction, instruction.argument(0), type);
  widen(code_, instruction, stack_end(instruction), to, type);
}

void StackReader::restore(PtxInstruction& instruction) {
  const Type type = type_of(instruction);
  instruction.expect_arguments(1, 1);
  const ir::Operand end = operands_.source(instruction, instruction.argument(0), type);
  set_stack_end(instruction, narrow(code_, instruction, end, type));
}

void StackReader::allocate(PtxInstruction& instruction) {
  const Type type = type_of(instruction);
  instruction.expect_arguments(2, 3);
  std::int64_t alignment = 8;
  if (instruction.arguments() == 3) {
    const ir::Operand given = operands_.immediate(instruction, instruction.argument(2), Type::u32);
    alignment = given.value;
    if (alignment <= 0 || !std::has_single_bit(static_cast<std::uint64_t>(alignment)))
      instruction.fail(instruction.argument(2).at, "alignment is no power of two",
                       "write 4, 8, 16 or another");
  }
  const ir::Operand to = operands_.destination(instruction, instruction.argument(0), type);
  const ir::Operand size = narrow(
      code_, instruction, operands_.source(instruction, instruction.argument(1), type), type);
  const ir::Operand above = compute(code_, instruction, Opcode::add, Type::u32,
                                    stack_end(instruction), ir::immediate_operand(alignment - 1));
  const ir::Operand begin = compute(code_, instruction, Opcode::and_, Type::b32, above,
                                    ir::immediate_operand(-alignment));
  set_stack_end(instruction, compute(code_, instruction, Opcode::add, Type::u32, begin, size));
  widen(code_, instruction, begin, to, type);
}

ir::Operand StackReader::stack_end(const PtxInstruction& instruction) {
  ir::Operation save = instruction.plain(Opcode::stack_save, Type::b32);
  save.guard = instruction.operation.guard;
  save.destinations = {ir::register_operand(code_.new_register(Type::b32))};
  const ir::Operand result = save.destinations[0];
  code_.append(std::move(save));
  return result;
}

void StackReader::set_stack_end(const PtxInstruction& instruction, const ir::Operand& end) {
  ir::Operation restore = instruction.plain(Opcode::stack_restore, Type::b32);
  restore.guard = instruction.operation.guard;
  restore.sources = {end};
  code_.append(std::move(restore));
}

void StackReader::remember(const PtxInstruction& header) {
  const auto allocates = [](const syntax::Statement& s) {
    return s.kind == syntax::Statement::Kind::instruction && s.text.starts_with("alloca");
  };
  const syntax::Function& function = code_.source();
  if (function.is_entry || std::none_of(function.body.begin(), function.body.end(), allocates))
    return;
  remembered_ = stack_end(header).index;
}

void StackReader::give_back(const PtxInstruction& instruction) {
  if (remembered_ != ir::no_register) set_stack_end(instruction, ir::register_operand(remembered_));
}

}  // namespace lockstep::isa
