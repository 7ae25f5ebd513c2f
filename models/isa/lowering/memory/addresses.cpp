/// Address folding: a memory operand whose base is "x plus constant" reads x and adds the constant
/// itself (24-bit signed offsets, as the machine's loads and stores have).
/// Source: architecture.md, section 3 "isa".
#include <map>

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
using Sums = std::map<std::uint32_t, Sum>;

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

bool fold(ir::Operation& operation, const Sums& sums) {
  if (!has_address(operation)) return false;
  bool changed = false;
  for (ir::Operand& base = operation.sources[0]; base.kind == Kind::reg;) {
    const auto it = sums.find(base.index);
    if (it == sums.end()) break;
    const std::int64_t offset = operation.offset + it->second.constant;
    if (offset > largest_offset || offset < -largest_offset) break;
    operation.offset = offset;
    const Type width = base.type;
    base = it->second.base;
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
    for_each_definition(operation, [&](const ir::Operand& d) {
      for (auto it = sums.begin(); it != sums.end();)
        it = it->first == d.index ||
                     (it->second.base.kind == Kind::reg && it->second.base.index == d.index)
                 ? sums.erase(it)
                 : std::next(it);
    });
    if (is_sum(operation) && !same_value(operation.sources[0], operation.destinations[0]))
      sums[operation.destinations[0].index] = sum_of(operation);
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
        sums[operation.destinations[0].index] = sum_of(operation);
  bool changed = false;
  for (ir::Block& block : function.blocks) {
    for (ir::Operation& operation : block.operations) changed = fold(operation, sums) || changed;
    changed = fold_in_block(block) || changed;
  }
  return changed;
}

}  // namespace lockstep::isa::lowering
