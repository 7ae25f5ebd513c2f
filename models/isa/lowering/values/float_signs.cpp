/// Negations of floating-point operands move into the operation that reads them, as SASS has signs
/// on operands: a + (-b) is a - b, and fma and mul negate their product or addend (Operation::mode
/// bit 0: the product, bit 1: the addend).  Same bits: negation is exact and NaN results are
/// canonical.
#include "models/isa/lowering/analysis/operation.hpp"
#include "models/isa/lowering/analysis/producers.hpp"
#include "models/isa/lowering/values/passes.hpp"

namespace lockstep::isa::lowering {

namespace {

constexpr unsigned negate_product = 1, negate_addend = 2;

class Signs {
 public:
  explicit Signs(ir::Function& function) : function_(function), producers_(function) {}

  bool run() {
    bool changed = false;
    for (place_.block = 0; place_.block < function_.blocks.size(); ++place_.block) {
      auto& operations = function_.blocks[place_.block].operations;
      for (place_.operation = 0; place_.operation < operations.size(); ++place_.operation) {
        ir::Operation& operation = operations[place_.operation];
        if (operation.type != Type::f32 && operation.type != Type::f64) continue;
        for (std::size_t s = 0; s < operation.sources.size(); ++s)
          changed = absorb(operation, s) || changed;
      }
    }
    return changed;
  }

 private:
  bool absorb(ir::Operation& operation, std::size_t s) {
    if (operation.opcode != Opcode::add && operation.opcode != Opcode::sub &&
        operation.opcode != Opcode::mul && operation.opcode != Opcode::fma)
      return false;
    if (operation.sources[s].kind != Kind::reg) return false;
    const ir::Operation* inner = producers_.find(operation.sources[s], place_);
    if (inner == nullptr || inner->opcode != Opcode::neg || inner->type != operation.type ||
        inner->sources[0].kind != Kind::reg || (inner->flush && !operation.flush))
      return false;
    const ir::Operand original = inner->sources[0];
    switch (operation.opcode) {
      case Opcode::add:
        operation.opcode = Opcode::sub;
        operation.sources = {operation.sources[1 - s], original};
        return true;
      case Opcode::sub:
        if (s == 0) return false;
        operation.opcode = Opcode::add;
        operation.sources[1] = original;
        return true;
      default:
        operation.mode ^= s < 2 ? negate_product : negate_addend;
        operation.sources[s] = original;
        return true;
    }
  }

  ir::Function& function_;
  const Producers producers_;
  Place place_;  ///< operation being looked at
};

}  // namespace

bool fold_signs(ir::Function& function) {
  return Signs(function).run();
}

}  // namespace lockstep::isa::lowering
