/// Address folding: a memory operand whose base is "x plus constant" reads x and adds the constant
/// itself (24-bit signed offsets, as the machine's loads and stores have).
/// Source: architecture.md, section 3 "isa".
#include <algorithm>
#include <unordered_map>
#include <vector>

#include "models/isa/lowering/analysis/evaluate.hpp"
#include "models/isa/lowering/analysis/operation.hpp"
#include "models/isa/lowering/analysis/registers.hpp"
#include "models/isa/lowering/memory/passes.hpp"

namespace lockstep::isa::lowering {

namespace {

constexpr std::int64_t largest_offset = (1 << 23) - 1;

struct Sum {
  ir::Operand base;
  std::int64_t constant = 0;
};

/// Registers that hold a sum, and the sums.
class Sums {
 public:
  const Sum* find(std::uint32_t index) const {
    const auto found = sums_.find(index);
    return found == sums_.end() ? nullptr : &found->second;
  }
  void add(std::uint32_t index, const Sum& sum) {
    sums_[index] = sum;
    if (sum.base.kind == Kind::reg) readers_[sum.base.index].push_back(index);
  }
  /// Finds the ends of all sums, through any number of sums of sums.
  void find_ends() {
    std::vector<std::uint32_t> chain;
    for (const auto& [first, sum] : sums_) {
      for (std::uint32_t index = first; !ends_.contains(index);) {
        chain.push_back(index);
        const ir::Operand& base = sums_.at(index).base;
        if (base.kind != Kind::reg || !sums_.contains(base.index)) break;
        index = base.index;
      }
      for (; !chain.empty(); chain.pop_back())
        ends_.emplace(chain.back(), end_behind(chain.back()));
    }
  }
  /// Value of the register in the end, if find_ends() was called.
  struct End {
    ir::Operand base;
    std::int64_t constant, lowest,
        highest;  ///< final sum, and the lowest and highest sum on the way
  };
  const End* find_end(std::uint32_t index) const {
    const auto found = ends_.find(index);
    return found == ends_.end() ? nullptr : &found->second;
  }
  /// Forgets a register that is written: it is no such sum any more, and neither are sums with it
  /// as their base.
  void forget(std::uint32_t index) {
    sums_.erase(index);
    const auto found = readers_.find(index);
    if (found == readers_.end()) return;
    for (const std::uint32_t sum : found->second)
      if (const auto it = sums_.find(sum);
          it != sums_.end() && it->second.base.kind == Kind::reg && it->second.base.index == index)
        sums_.erase(it);
    readers_.erase(found);
  }

 private:
  End end_behind(std::uint32_t index) const {
    const auto& [base, constant] = sums_.at(index);
    const End* next = base.kind == Kind::reg ? find_end(base.index) : nullptr;
    if (next == nullptr) return {base, constant, constant, constant};
    return {next->base, constant + next->constant,
            constant + std::min<std::int64_t>(0, next->lowest),
            constant + std::max<std::int64_t>(0, next->highest)};
  }

  std::unordered_map<std::uint32_t, Sum> sums_;
  std::unordered_map<std::uint32_t, End> ends_;
  /// Readers of each base register.
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> readers_;
};

bool is_sum(const ir::Operation& operation) {
  return operation.opcode == Opcode::add && !is_guarded(operation) && !operation.carry_out &&
         !operation.saturate && !is_float(operation.type) && bytes_of(operation.type) >= 4 &&
         operation.sources.size() == 2 && operation.sources[1].kind == Kind::immediate &&
         operation.destinations.size() == 1 && operation.destinations[0].kind == Kind::reg &&
         (is_register(operation.sources[0]) || is_constant_bank(operation.sources[0]));
}

Sum sum_of(const ir::Operation& operation) {
  const Type type = bytes_of(operation.type) == 8 ? Type::s64 : Type::s32;
  return {operation.sources[0], as_type(operation.sources[1].value, type)};
}

bool has_address(const ir::Operation& operation) {
  return accesses_memory(operation.opcode) && !has_trait(operation.opcode, on_own_stack) &&
         !operation.sources.empty() && operation.space != Space::parameter;
}

bool fits(std::int64_t offset) {
  return offset <= largest_offset && offset >= -largest_offset;
}

bool fold(ir::Operation& operation, const Sums& sums) {
  if (!has_address(operation)) return false;
  bool changed = false;
  for (ir::Operand& base = operation.sources[0]; base.kind == Kind::reg;) {
    if (const Sums::End* end = sums.find_end(base.index); end != nullptr &&
                                                          fits(operation.offset + end->lowest) &&
                                                          fits(operation.offset + end->highest)) {
      operation.offset += end->constant;
      const Type width = base.type;
      base = end->base;
      base.type = width;
      return true;
    }
    const Sum* sum = sums.find(base.index);
    if (sum == nullptr) break;
    const std::int64_t offset = operation.offset + sum->constant;
    if (!fits(offset)) break;
    operation.offset = offset;
    const Type width = base.type;
    base = sum->base;
    base.type = width;
    changed = true;
  }
  return changed;
}

bool fold_in_block(ir::Block& block) {
  Sums sums;
  bool changed = false;
  for (ir::Operation& operation : block.operations) {
    changed = fold(operation, sums) || changed;
    for_each_definition(operation, [&](const ir::Operand& d) { sums.forget(d.index); });
    if (is_sum(operation) && !same_value(operation.sources[0], operation.destinations[0]))
      sums.add(operation.destinations[0].index, sum_of(operation));
  }
  return changed;
}

}  // namespace

bool fold_addresses(ir::Function& function) {
  const Definitions definitions(function);
  Sums sums;
  for (const ir::Block& block : function.blocks)
    for (const ir::Operation& operation : block.operations)
      if (is_sum(operation) && definitions.is_single(operation.destinations[0].index) &&
          definitions.sources_are_single(operation))
        sums.add(operation.destinations[0].index, sum_of(operation));
  sums.find_ends();
  bool changed = false;
  for (ir::Block& block : function.blocks) {
    for (ir::Operation& operation : block.operations) changed = fold(operation, sums) || changed;
    changed = fold_in_block(block) || changed;
  }
  return changed;
}

}  // namespace lockstep::isa::lowering
