/// Branches, calls and what ends a thread.
/// Source: PTX ISA 8.x, section 9.7.12 "Control Flow Instructions" and 9.7.19.
#include "models/isa/reader/function_translator.hpp"

namespace lockstep::isa {

using Kind = ir::Operand::Kind;
using Argument = syntax::Operand;

bool FunctionTranslator::control(Current& current) {
  static constexpr std::pair<std::string_view, Opcode> simple[] = {
      {"ret", Opcode::ret},     {"exit", Opcode::exit},           {"trap", Opcode::trap},
      {"brkpt", Opcode::brkpt}, {"nanosleep", Opcode::nanosleep}, {"pmevent", Opcode::pmevent}};
  const std::string& base = current.modifiers.base();
  current.operation.uniform = current.modifiers.take("uni");
  if (base == "bra") {
    branch(current);
    return true;
  }
  if (base == "brx") {
    branch_indexed(current);
    return true;
  }
  if (base == "call") {
    call(current);
    return true;
  }
  for (const auto& [name, opcode] : simple)
    if (base == name) {
      current.operation.opcode = opcode;
      const bool waits = opcode == Opcode::nanosleep;
      if (waits) current.operation.type = current.modifiers.take_type();
      current.modifiers.take("mask");
      const std::size_t operands = waits || opcode == Opcode::pmevent ? 1 : 0;
      expect_arguments(current, operands, operands);
      if (waits)
        current.operation.sources.push_back(source(current, argument(current, 0), Type::b32));
      if (opcode == Opcode::ret) restore_stack(current);
      finish(current);
      return true;
    }
  return false;
}

void FunctionTranslator::branch(Current& current) {
  expect_arguments(current, 1, 1);
  current.operation.opcode = Opcode::bra;
  current.operation.sources.push_back(label(argument(current, 0)));
  finish(current);
}

void FunctionTranslator::branch_indexed(Current& current) {
  expect_arguments(current, 2, 2);
  current.modifiers.take("idx");
  current.operation.opcode = Opcode::brx;
  const Argument& name = argument(current, 1);
  const Symbol& table = find(name);
  if (table.kind != Symbol::Kind::table) fail(name.at, name.text + " is no list of branch targets");
  if (table.index == ir::no_register)
    fail(name.at, "branch targets " + name.text + " must stand before their use");
  current.operation.immediate = table.index;
  current.operation.sources.push_back(source(current, argument(current, 0), Type::u32));
  finish(current);
}

/// call (results), function, (arguments), prototype.  The operation reads function, arguments, then
/// the addresses of structures that come back; it writes scalar results.
void FunctionTranslator::call(Current& current) {
  ir::Operation& operation = current.operation;
  operation.opcode = Opcode::call;
  std::vector<Argument> written = current.statement->operands;
  std::vector<Argument> results;
  if (!written.empty() && written.front().kind == Argument::Kind::group) {
    results = written.front().children;
    written.erase(written.begin());
  }
  if (written.empty() || written.front().kind != Argument::Kind::name)
    fail(current, "needs a function");
  const Argument callee = written.front();
  std::vector<Argument> arguments;
  if (written.size() > 1 && written[1].kind == Argument::Kind::group)
    arguments = written[1].children;
  if (run_time_call(current, callee, arguments)) return;
  const Symbol target = find(callee);
  if (target.kind == Symbol::Kind::function) {
    const SourceFunction& called = module_.module->functions[target.index];
    if (!called.has_body)
      fail(callee.at, "call of " + callee.text + ", which has no body in this module",
           "of the functions of the CUDA run time, assert and printf are modelled");
    if (called.code.is_entry) fail(callee.at, "call of kernel " + callee.text);
  }
  operation.sources.push_back(source(current, callee, Type::b64));
  for (const Argument& a : arguments) operation.sources.push_back(call_operand(current, a));
  for (const Argument& r : results) {
    const ir::Operand operand = call_operand(current, r);
    (operand.kind == Kind::local_symbol ? operation.sources : operation.destinations)
        .push_back(operand);
  }
  finish(current);
}

ir::Operand FunctionTranslator::call_operand(Current& current, const Argument& name) {
  if (name.kind != Argument::Kind::name) return source(current, name, Type::b32);
  const Symbol& symbol = find(name);
  ir::Operand operand;
  operand.kind = symbol.type == Type::pred ? Kind::predicate : Kind::reg;
  operand.index = symbol.index;
  operand.type = symbol.type;
  if (symbol.kind == Symbol::Kind::parameter_bytes) {
    operand.kind = Kind::local_symbol;
    operand.type = Type::b32;
  } else if (symbol.kind != Symbol::Kind::parameter && symbol.kind != Symbol::Kind::reg) {
    fail(name.at, name.text + " is no parameter of a call");
  }
  return operand;
}

}  // namespace lockstep::isa
