/// Memory that threads take from their stack while they run: alloca, stacksave, stackrestore.
///
/// Behind all variables, each thread's local memory has a range whose used part ends at a pointer
/// in a register of its own; alloca moves it up, stackrestore sets it.  A device function that
/// allocates sets it back when it returns.
/// Source: PTX ISA 7.3 and later, "Stack Manipulation Instructions".
///
/// Simplified: the range has a fixed size (stack_bytes in models/isa/encode/encode.hpp); who takes
/// more is told so when it touches what it was given.
/// Cost model: alloca is four integer instructions, the others are moves.
#include <algorithm>
#include <bit>

#include "models/isa/reader/function_translator.hpp"

namespace lockstep::isa {

using Kind = ir::Operand::Kind;

bool FunctionTranslator::stack(Current& current) {
  const std::string& base = current.modifiers.base();
  if (base != "alloca" && base != "stacksave" && base != "stackrestore") return false;
  const Type type = current.modifiers.take_type();
  if (type != Type::u32 && type != Type::u64) fail(current, "needs a type: .u32 or .u64");
  current.operation.type = type;
  if (base == "alloca") {
    allocate(current);
  } else if (base == "stacksave") {
    expect_arguments(current, 1, 1);
    const ir::Operand to = destination(current, argument(current, 0), type);
    const ir::Operand end = stack_end(current);
    widen(current, end, to, type);
  } else {
    expect_arguments(current, 1, 1);
    set_stack_end(current, narrow(current, source(current, argument(current, 0), type), type));
  }
  reject_rest(current);
  return true;
}

void FunctionTranslator::allocate(Current& current) {
  expect_arguments(current, 2, 3);
  const Type type = current.operation.type;
  std::int64_t alignment = 8;
  if (current.statement->operands.size() == 3) {
    const ir::Operand given = immediate(current, argument(current, 2), Type::u32);
    alignment = given.value;
    if (alignment <= 0 || !std::has_single_bit(static_cast<std::uint64_t>(alignment)))
      fail(argument(current, 2).at, "alignment is no power of two");
  }
  const ir::Operand to = destination(current, argument(current, 0), type);
  const ir::Operand size = narrow(current, source(current, argument(current, 1), type), type);
  const ir::Operand above = compute(current, Opcode::add, Type::u32, stack_end(current),
                                    ir::immediate_operand(alignment - 1));
  const ir::Operand begin =
      compute(current, Opcode::and_, Type::b32, above, ir::immediate_operand(-alignment));
  set_stack_end(current, compute(current, Opcode::add, Type::u32, begin, size));
  widen(current, begin, to, type);
}

ir::Operand FunctionTranslator::stack_end(const Current& current) {
  ir::Operation save = plain(current, Opcode::stack_save, Type::b32);
  save.guard = current.operation.guard;
  save.destinations = {ir::register_operand(new_register(Type::b32))};
  const ir::Operand result = save.destinations[0];
  append(std::move(save));
  return result;
}

void FunctionTranslator::set_stack_end(const Current& current, const ir::Operand& end) {
  ir::Operation restore = plain(current, Opcode::stack_restore, Type::b32);
  restore.guard = current.operation.guard;
  restore.sources = {end};
  append(std::move(restore));
}

FunctionTranslator::Current FunctionTranslator::header() {
  header_.at = source_.at;
  Current current{&header_, Modifiers(""), {}};
  current.operation.line = source_.at.line;
  current.operation.column = source_.at.column;
  return current;
}

void FunctionTranslator::remember_stack() {
  const auto allocates = [](const syntax::Statement& s) {
    return s.kind == syntax::Statement::Kind::instruction && s.text.starts_with("alloca");
  };
  if (source_.is_entry || std::none_of(source_.body.begin(), source_.body.end(), allocates)) return;
  remembered_stack_ = stack_end(header()).index;
}

void FunctionTranslator::restore_stack(const Current& current) {
  if (remembered_stack_ != ir::no_register)
    set_stack_end(current, ir::register_operand(remembered_stack_));
}

}  // namespace lockstep::isa
