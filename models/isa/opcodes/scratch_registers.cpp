/// Scratch registers per operation: what the code that ptxas expands it into works with.
///
/// Source: kernels that hold 0 to 10 values in registers across one operation, compiled with ptxas
/// 11.8 for sm_70: registers beyond those of the same kernel with an addition (docs/validation.md).
///
/// Simplified: the same number whatever the operands are.
#include "models/isa/opcodes/scratch_registers.hpp"

namespace lockstep::isa {

namespace {

unsigned divide(Type type) {
  switch (type) {
    case Type::f32:
      return 8;
    case Type::f64:
      return 8;
    case Type::s64:
      return 12;
    case Type::u64:
      return 10;
    default:
      return 4;
  }
}

}  // namespace

unsigned scratch_registers(const ir::Operation& operation) {
  const bool is_double = operation.type == Type::f64;
  if (operation.approximate || operation.full) return 0;
  switch (operation.opcode) {
    case Opcode::div:
    case Opcode::rem:
      return divide(operation.type);
    case Opcode::rcp:
      return 6;
    case Opcode::sqrt:
      return is_double ? 10 : 2;
    default:
      return 0;
  }
}

}  // namespace lockstep::isa
