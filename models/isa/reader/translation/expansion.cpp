/// Operations that together make one PTX statement. All have the statement's guard.
#include "models/isa/reader/translation/expansion.hpp"

namespace lockstep::isa {

ir::Operand compute(Translation& code, const PtxInstruction& instruction, Opcode opcode, Type type,
                    const ir::Operand& a, const ir::Operand& b) {
  ir::Operation operation = instruction.plain(opcode, type);
  operation.guard = instruction.operation.guard;
  operation.sources = {a, b};
  operation.destinations = {
      ir::register_operand(code.new_register(bytes_of(type) == 8 ? Type::b64 : Type::b32))};
  const ir::Operand result = operation.destinations[0];
  code.append(std::move(operation));
  return result;
}

ir::Operand narrow(Translation& code, const PtxInstruction& instruction, const ir::Operand& operand,
                   Type type) {
  if (type != Type::u64 || operand.kind != ir::Operand::Kind::reg) return operand;
  ir::Operation cut = instruction.plain(Opcode::cvt, Type::u32);
  cut.source_type = Type::u64;
  cut.guard = instruction.operation.guard;
  cut.sources = {operand};
  cut.destinations = {ir::register_operand(code.new_register(Type::b32))};
  const ir::Operand result = cut.destinations[0];
  code.append(std::move(cut));
  return result;
}

void widen(Translation& code, const PtxInstruction& instruction, const ir::Operand& from,
           const ir::Operand& to, Type type) {
  const bool wide = type == Type::u64;
  ir::Operation copy = instruction.plain(wide ? Opcode::cvt : Opcode::mov, type);
  if (wide) copy.source_type = Type::u32;
  copy.guard = instruction.operation.guard;
  copy.sources = {from};
  copy.destinations = {to};
  code.append(std::move(copy));
}

}  // namespace lockstep::isa
