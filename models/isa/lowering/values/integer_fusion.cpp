/// Integer fusion: multiply and add to mad, widening multiply and 64-bit add to mad_wide_add, shift
/// and add to lea, two additions to iadd3, as ptxas uses IMAD, IMAD.WIDE, LEA and IADD3.
///
/// An inner operation is fused into all of its users or not at all, since a copy in only some of
/// them would save nothing.  The exception is the widening multiply, which saves a 64-bit addition
/// (two instructions) in each user.  Floating point is not fused here: bits would change
/// (contraction.hpp).
#include <vector>

#include "models/isa/lowering/analysis/evaluate.hpp"
#include "models/isa/lowering/analysis/operation.hpp"
#include "models/isa/lowering/analysis/producers.hpp"
#include "models/isa/lowering/values/passes.hpp"

namespace lockstep::isa::lowering {

namespace {

bool is_integer(Type type, unsigned bytes) {
  return type >= Type::b8 && type <= Type::s64 && bytes_of(type) == bytes;
}

bool is_plain(const ir::Operation& operation) {
  return !is_guarded(operation) && !operation.carry_out && !operation.saturate &&
         operation.destinations.size() == 1 && operation.destinations[0].kind == Kind::reg;
}

bool is_sum(const ir::Operation& operation, unsigned bytes) {
  return (operation.opcode == Opcode::add || operation.opcode == Opcode::sub) &&
         is_plain(operation) && is_integer(operation.type, bytes) && operation.sources.size() == 2;
}

class Fusion {
 public:
  explicit Fusion(ir::Function& function)
      : function_(function), producers_(function), fusable_(function.registers.size()) {}

  bool run() {
    count_fusable();
    bool changed = false;
    for (place_.block = 0; place_.block < function_.blocks.size(); ++place_.block) {
      auto& operations = function_.blocks[place_.block].operations;
      for (place_.operation = 0; place_.operation < operations.size(); ++place_.operation) {
        ir::Operation& operation = operations[place_.operation];
        changed = widen_shift(operation) || fuse(operation) || changed;
      }
    }
    return changed;
  }

 private:
  const ir::Operation* source_of(const ir::Operand& operand) const {
    const ir::Operation* operation =
        operand.kind == Kind::reg ? producers_.find(operand, place_) : nullptr;
    return operation != nullptr && is_plain(*operation) ? operation : nullptr;
  }

  void count_fusable() {
    for (const ir::Block& block : function_.blocks)
      for (const ir::Operation& operation : block.operations) {
        if (operation.opcode != Opcode::add || !(is_sum(operation, 4) || is_sum(operation, 8)))
          continue;
        for (const ir::Operand& source : operation.sources)
          if (source.kind == Kind::reg) ++fusable_[source.index];
      }
  }

  // (wide)x << k, or (wide)x * 2^k, is one widening multiplication.
  bool widen_shift(ir::Operation& operation) {
    if (operation.opcode != Opcode::shl || !is_plain(operation) || !is_integer(operation.type, 8) ||
        operation.sources[1].kind != Kind::immediate || operation.sources[1].value < 0 ||
        operation.sources[1].value > 30)
      return false;
    const ir::Operation* inner = source_of(operation.sources[0]);
    if (inner == nullptr || inner->opcode != Opcode::cvt || !is_integer(inner->type, 8) ||
        !is_integer(inner->source_type, 4) || inner->sources[0].type != Type::none)
      return false;
    operation.opcode = Opcode::mul;
    operation.part = MulPart::wide;
    operation.type = is_signed(inner->source_type) ? Type::s32 : Type::u32;
    operation.sources[1].value = std::int64_t{1} << operation.sources[1].value;
    operation.sources[0] = inner->sources[0];
    return true;
  }

  bool fuse(ir::Operation& operation) {
    const unsigned bytes = bytes_of(operation.type);
    if (bytes < 4 || !is_sum(operation, bytes)) return false;
    if (operation.opcode == Opcode::add)
      for (std::size_t s : {0, 1})
        if ((bytes == 8 && fuse_wide(operation, s)) || fuse_product(operation, s, bytes))
          return true;
    for (std::size_t s : {0, 1})
      if (fuse_sum(operation, s, bytes)) return true;
    return false;
  }

  bool fuse_wide(ir::Operation& operation, std::size_t s) {
    const ir::Operation* inner = source_of(operation.sources[s]);
    if (inner == nullptr || inner->opcode != Opcode::mul || inner->part != MulPart::wide ||
        !is_integer(inner->type, 4))
      return false;
    const ir::Operand addend = operation.sources[1 - s];
    operation.opcode = Opcode::mad_wide_add;
    operation.type = inner->type;
    operation.sources = {inner->sources[0], inner->sources[1], addend};
    return true;
  }

  bool dies_with_fusion(const ir::Operand& operand) const {
    return producers_.uses(operand) == fusable_[operand.index];
  }

  bool fuse_product(ir::Operation& operation, std::size_t s, unsigned bytes) {
    const ir::Operation* inner = source_of(operation.sources[s]);
    if (inner == nullptr || !is_integer(inner->type, bytes) ||
        !dies_with_fusion(operation.sources[s]))
      return false;
    const ir::Operand addend = operation.sources[1 - s];
    if (inner->opcode == Opcode::mul && inner->part == MulPart::lo) {
      operation.opcode = Opcode::mad;
      operation.part = MulPart::lo;
      operation.sources = {inner->sources[0], inner->sources[1], addend};
      return true;
    }
    if (inner->opcode == Opcode::shl && inner->sources[1].kind == Kind::immediate &&
        inner->sources[1].value >= 0 && inner->sources[1].value < 8 * static_cast<int>(bytes)) {
      operation.opcode = Opcode::lea;
      operation.immediate = static_cast<std::uint32_t>(inner->sources[1].value);
      operation.sources = {inner->sources[0], addend};
      return true;
    }
    return false;
  }

  // Fuses a + b + c with signs, only when the inner sum has no other user.
  bool fuse_sum(ir::Operation& operation, std::size_t s, unsigned bytes) {
    const ir::Operation* inner = source_of(operation.sources[s]);
    if (inner == nullptr || !is_sum(*inner, bytes)) return false;
    if (producers_.uses(operation.sources[s]) != 1) return false;
    const bool outer_minus = operation.opcode == Opcode::sub;
    const bool inner_minus = inner->opcode == Opcode::sub;
    const bool negate_inner = outer_minus && s == 1;
    unsigned signs = 0;
    if (negate_inner) signs |= 1;
    if (negate_inner != inner_minus) signs |= 2;
    if (outer_minus && s == 0) signs |= 4;
    operation.opcode = Opcode::iadd3;
    const ir::Operand addend = operation.sources[1 - s];
    operation.sources = {inner->sources[0], inner->sources[1], addend};
    operation.mode = static_cast<std::uint16_t>(signs);
    return true;
  }

  ir::Function& function_;
  const Producers producers_;
  Place place_;                         ///< operation being looked at
  std::vector<std::uint32_t> fusable_;  ///< 32-bit additions that read the register
};

}  // namespace

bool fuse_integers(ir::Function& function) {
  return Fusion(function).run();
}

}  // namespace lockstep::isa::lowering
