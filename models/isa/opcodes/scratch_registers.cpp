/// Scratch registers per operation: the registers that ptxas's code for the operation uses in
/// addition to its operands and result.
///
/// Source: kernels that hold 0 to 10 values in registers across one operation, compiled with ptxas
/// 11.8 for sm_70: registers beyond those of the same kernel with an addition
/// (docs/validation/lowering.md).
///
/// Simplified: the number does not depend on the operands.
#include "models/isa/opcodes/scratch_registers.hpp"

#include "models/isa/opcodes/table.hpp"

namespace lockstep::isa {

unsigned scratch_registers(const ir::Operation& operation) {
  const OpcodeFacts& facts = facts_of(operation.opcode);
  const bool expands = !operation.approximate && !operation.full;
  return facts.scratch_of != nullptr && expands ? facts.scratch_of(operation) : 0;
}

namespace scratch {

unsigned divide(const ir::Operation& operation) {
  switch (operation.type) {
    case Type::f32:
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

unsigned reciprocal(const ir::Operation&) {
  return 6;
}

unsigned square_root(const ir::Operation& operation) {
  return operation.type == Type::f64 ? 10 : 2;
}

}  // namespace scratch

}  // namespace lockstep::isa
