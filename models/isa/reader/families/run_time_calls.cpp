/// Functions of the CUDA run time that kernels call and no module defines.
///
/// __assertfail(message, file, line, function, character size) becomes a trap with these texts.
/// vprintf, malloc and free are functions of their own, see run_time_functions.hpp; in a module
/// without malloc, free ignores null and is a trap otherwise: every class with a virtual destructor
/// has code that calls it.
///
/// Source: PTX Interoperability guide, "System Calls".
///
/// Simplified: dynamic parallelism is reported when a module is read; characters have one byte.
#include "models/isa/reader/families/run_time_calls.hpp"

namespace lockstep::isa {

bool RunTimeCalls::call(PtxInstruction& instruction, const Argument& callee,
                        const std::vector<Argument>& arguments) {
  const Symbol* target = code_.lookup(callee.text);
  if (target == nullptr || target->kind != Symbol::Kind::function ||
      code_.function(*target).has_body)
    return false;
  if (callee.text == "__assertfail") {
    assertion(instruction, callee, arguments);
  } else if (callee.text == "free") {
    free_memory(instruction, callee, arguments);
  } else {
    return false;
  }
  return true;
}

void RunTimeCalls::assertion(PtxInstruction& instruction, const Argument& callee,
                             const std::vector<Argument>& arguments) {
  static constexpr unsigned widths[] = {8, 8, 4, 8, 8};
  ir::Operation& operation = instruction.operation;
  operation.opcode = Opcode::trap;
  for (const Argument& argument : arguments)
    operation.sources.push_back(operands_.call_operand(instruction, argument));
  bool fits = operation.sources.size() == std::size(widths);
  for (std::size_t a = 0; fits && a < operation.sources.size(); ++a)
    fits = bytes_of(operation.sources[a].type) == widths[a];
  if (!fits)
    instruction.fail(
        callee.at,
        "__assertfail takes a message, a file, a line, a function and a character size of 64, 64, "
        "32, 64 and 64 bits",
        "declare it so, as assert.h does");
  operation.sources.pop_back();
  code_.finish(instruction);
}

void RunTimeCalls::free_memory(PtxInstruction& instruction, const Argument& callee,
                               const std::vector<Argument>& arguments) {
  if (arguments.size() != 1)
    instruction.fail(callee.at, "free takes a pointer", "give one argument of 64 bits");
  ir::Operand pointer = operands_.call_operand(instruction, arguments[0]);
  if (bytes_of(pointer.type) != 8)
    instruction.fail(callee.at, "free takes a pointer of 64 bits", "widen it with cvt.u64");
  pointer.type = Type::none;
  ir::Operation test = instruction.plain(Opcode::setp, Type::u64);
  test.comparison = Comparison::ne;
  test.sources = {pointer, ir::immediate_operand(0)};
  ir::Operation& operation = instruction.operation;
  if (operation.guard.kind == ir::Operand::Kind::predicate) {
    test.combination = Combination::logical_and;
    test.sources.push_back(operation.guard);
  }
  operation.guard = ir::predicate_operand(code_.new_register(Type::pred));
  test.destinations = {operation.guard};
  code_.append(std::move(test));
  operation.opcode = Opcode::trap;
  operation.mode = static_cast<std::uint16_t>(ir::TrapReason::freed);
  code_.finish(instruction);
}

void RunTimeCalls::print(PtxInstruction& instruction) {
  if (!code_.source().built_in) instruction.unsupported();
  ir::Operation& operation = instruction.operation;
  if (instruction.modifiers.take("begin")) {
    operation.mode = static_cast<std::uint16_t>(ir::PrintStep::begin);
    operation.type = Type::b64;
    operation.destinations.push_back(
        operands_.destination(instruction, instruction.argument(0), Type::b32));
    operation.sources.push_back(operands_.source(instruction, instruction.argument(1), Type::b64));
  } else if (instruction.modifiers.take("word")) {
    operation.mode = static_cast<std::uint16_t>(ir::PrintStep::word);
    operation.type = Type::b32;
    operation.sources.push_back(operands_.source(instruction, instruction.argument(0), Type::b32));
  } else if (instruction.modifiers.take("end")) {
    operation.mode = static_cast<std::uint16_t>(ir::PrintStep::end);
    operation.type = Type::b32;
    operation.destinations.push_back(
        operands_.destination(instruction, instruction.argument(0), Type::b32));
  }
  code_.finish(instruction);
}

}  // namespace lockstep::isa
