/// Operations of which several stand for one PTX statement.  All have the statement's guard.
#include "models/isa/reader/function_translator.hpp"

namespace lockstep::isa {

ir::Operand FunctionTranslator::compute(const Current& current, Opcode opcode, Type type,
                                        const ir::Operand& a, const ir::Operand& b) {
  ir::Operation operation = plain(current, opcode, type);
  operation.guard = current.operation.guard;
  operation.sources = {a, b};
  operation.destinations = {
      ir::register_operand(new_register(bytes_of(type) == 8 ? Type::b64 : Type::b32))};
  const ir::Operand result = operation.destinations[0];
  append(std::move(operation));
  return result;
}

ir::Operand FunctionTranslator::narrow(const Current& current, const ir::Operand& operand,
                                       Type type) {
  if (type != Type::u64 || operand.kind != ir::Operand::Kind::reg) return operand;
  ir::Operation cut = plain(current, Opcode::cvt, Type::u32);
  cut.source_type = Type::u64;
  cut.guard = current.operation.guard;
  cut.sources = {operand};
  cut.destinations = {ir::register_operand(new_register(Type::b32))};
  const ir::Operand result = cut.destinations[0];
  append(std::move(cut));
  return result;
}

void FunctionTranslator::widen(const Current& current, const ir::Operand& from,
                               const ir::Operand& to, Type type) {
  const bool wide = type == Type::u64;
  ir::Operation copy = plain(current, wide ? Opcode::cvt : Opcode::mov, type);
  if (wide) copy.source_type = Type::u32;
  copy.guard = current.operation.guard;
  copy.sources = {from};
  copy.destinations = {to};
  append(std::move(copy));
}

}  // namespace lockstep::isa
