/// The end of the stack that alloca takes from: one row of every thread of a kernel that uses it.
#include <algorithm>

#include "models/isa/encode/encoder.hpp"

namespace lockstep::isa {

bool Encoder::uses_stack() const {
  const auto on_stack = [](const ir::Operation& o) { return o.opcode == Opcode::stack_save; };
  const auto in_block = [&](const ir::Block& b) {
    return std::ranges::any_of(b.operations, on_stack);
  };
  return std::ranges::any_of(link_.functions, [&](const LinkedFunction& f) {
    return std::ranges::any_of(f.input.function->blocks, in_block);
  });
}

void Encoder::move_stack_end(const ir::Operation& op) {
  const Instruction guard = common(op);
  Operand to = single(stack_end_), from = to;
  if (op.opcode == Opcode::stack_save) {
    to = register_row(op.destinations[0].index);
    if (!to.valid()) return;
  } else {
    from = source(op, 0);
  }
  Instruction move = made(Opcode::mov, Type::b32, to, {from});
  move.guard = guard.guard;
  move.guard_negated = guard.guard_negated;
  emit(move);
}

}  // namespace lockstep::isa
