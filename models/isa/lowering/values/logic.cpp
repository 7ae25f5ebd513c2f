/// Logic: two bitwise operations become one lop3, a comparison and a predicate operation one setp
/// with a combination, negated predicates move into their readers (SASS: LOP3, ISETP.AND, !P).
#include <vector>

#include "models/isa/comparison.hpp"
#include "models/isa/lowering/analysis/operation.hpp"
#include "models/isa/lowering/analysis/producers.hpp"
#include "models/isa/lowering/values/passes.hpp"

namespace lockstep::isa::lowering {

namespace {

// Columns of a three-input truth table.
constexpr std::uint32_t column[3] = {0xf0, 0xcc, 0xaa};

bool is_logic(const ir::Operation& o) {
  if (is_guarded(o) || bytes_of(o.type) != 4 || is_float(o.type) || o.destinations.size() != 1 ||
      o.destinations[0].kind != Kind::reg)
    return false;
  return o.opcode == Opcode::and_ || o.opcode == Opcode::or_ || o.opcode == Opcode::xor_ ||
         o.opcode == Opcode::not_ ||
         (o.opcode == Opcode::lop3 && o.combination == Combination::none);
}

std::uint32_t apply_table(std::uint32_t table, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  std::uint32_t result = 0;
  for (unsigned bit = 0; bit < 8; ++bit) {
    const unsigned row = (a >> bit & 1) * 4 + (b >> bit & 1) * 2 + (c >> bit & 1);
    result |= (table >> row & 1) << bit;
  }
  return result;
}

std::uint32_t truth(const ir::Operation& o, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  switch (o.opcode) {
    case Opcode::and_:
      return a & b;
    case Opcode::or_:
      return a | b;
    case Opcode::xor_:
      return a ^ b;
    case Opcode::not_:
      return ~a & 0xff;
    default:
      return apply_table(o.immediate, a, b, c);
  }
}

class Logic {
 public:
  explicit Logic(ir::Function& function) : function_(function), producers_(function) {}

  bool run() {
    bool changed = absorb_negations();
    for (place_.block = 0; place_.block < function_.blocks.size(); ++place_.block) {
      auto& operations = function_.blocks[place_.block].operations;
      for (place_.operation = 0; place_.operation < operations.size(); ++place_.operation) {
        ir::Operation& operation = operations[place_.operation];
        if (is_logic(operation)) changed = merge_bits(operation) || changed;
        if (is_predicate_logic(operation)) changed = merge_comparison(operation) || changed;
      }
    }
    return changed;
  }

 private:
  bool merge_bits(ir::Operation& operation) {
    for (std::size_t s = 0; s < operation.sources.size(); ++s) {
      const ir::Operation* inner = producers_.find(operation.sources[s], place_);
      if (inner == nullptr || !is_logic(*inner)) continue;
      if (producers_.uses(operation.sources[s]) != 1) continue;
      if (merge(operation, s, *inner)) return true;
    }
    return false;
  }

  static std::size_t slot_of(std::vector<ir::Operand>& inputs, const ir::Operand& operand) {
    for (std::size_t k = 0; k < inputs.size(); ++k)
      if (same_value(inputs[k], operand)) return k;
    inputs.push_back(operand);
    return inputs.size() - 1;
  }

  static bool merge(ir::Operation& outer, std::size_t s, const ir::Operation& inner) {
    std::vector<ir::Operand> inputs;
    std::size_t inner_slots[3] = {}, outer_slots[3] = {};
    for (std::size_t k = 0; k < inner.sources.size(); ++k)
      inner_slots[k] = slot_of(inputs, inner.sources[k]);
    for (std::size_t k = 0; k < outer.sources.size(); ++k)
      if (k != s) outer_slots[k] = slot_of(inputs, outer.sources[k]);
    if (inputs.size() > 3) return false;
    const auto value = [&](std::size_t slot) { return slot < 3 ? column[slot] : 0; };
    const std::uint32_t middle =
        truth(inner, value(inner_slots[0]), value(inner_slots[1]), value(inner_slots[2]));
    std::uint32_t read[3];
    for (std::size_t k = 0; k < 3; ++k) read[k] = k == s ? middle : value(outer_slots[k]);
    const std::uint32_t table = truth(outer, read[0], read[1], read[2]);
    while (inputs.size() < 3) inputs.push_back(immediate_operand(0));
    outer.opcode = Opcode::lop3;
    outer.type = Type::b32;
    outer.immediate = table;
    outer.sources = std::move(inputs);
    return true;
  }

  static bool is_predicate_logic(const ir::Operation& o) {
    return !is_guarded(o) && o.type == Type::pred && o.sources.size() == 2 &&
           (o.opcode == Opcode::and_ || o.opcode == Opcode::or_ || o.opcode == Opcode::xor_) &&
           is_register(o.destinations[0]) && is_register(o.sources[0]) && is_register(o.sources[1]);
  }

  bool merge_comparison(ir::Operation& operation) {
    for (std::size_t s : {1, 0}) {
      const ir::Operand& condition = operation.sources[s];
      const ir::Operation* inner = producers_.find(condition, place_);
      if (inner == nullptr || inner->opcode != Opcode::setp ||
          inner->combination != Combination::none || producers_.uses(condition) != 1)
        continue;
      ir::Operation merged = *inner;
      if (condition.negated) {
        merged.comparison = inverse(inner->comparison, is_float(inner->type));
        if (merged.comparison == Comparison::none) continue;
      }
      merged.destinations = operation.destinations;
      merged.sources.push_back(operation.sources[1 - s]);
      merged.combination = operation.opcode == Opcode::and_  ? Combination::logical_and
                           : operation.opcode == Opcode::or_ ? Combination::logical_or
                                                             : Combination::logical_xor;
      merged.line = operation.line;
      operation = std::move(merged);
      return true;
    }
    return false;
  }

  // Readers of q = not p read !p.
  bool absorb_negations() {
    std::vector<ir::Operand> inner(function_.registers.size());
    for (const ir::Block& block : function_.blocks)
      for (const ir::Operation& o : block.operations)
        if (o.opcode == Opcode::not_ && o.type == Type::pred && !is_guarded(o) &&
            is_register(o.destinations[0]) &&
            producers_.definitions().is_single(o.destinations[0].index) &&
            is_register(o.sources[0]) && producers_.definitions().is_single(o.sources[0].index))
          inner[o.destinations[0].index] = o.sources[0];
    bool changed = false;
    for (ir::Block& block : function_.blocks)
      for (ir::Operation& operation : block.operations)
        for_each_use(operation, [&](ir::Operand& use) {
          while (use.kind == Kind::predicate && inner[use.index].kind != Kind::none) {
            const ir::Operand& original = inner[use.index];
            use.negated = use.negated == original.negated;
            use.index = original.index;
            changed = true;
          }
        });
    return changed;
  }

  ir::Function& function_;
  const Producers producers_;
  Place place_;  ///< operation being looked at
};

}  // namespace

bool merge_logic(ir::Function& function) {
  return Logic(function).run();
}

}  // namespace lockstep::isa::lowering
