/// Copy coalescing: both ends of a copy become one register when neither is written while the other
/// is still needed, so that the copy disappears.
/// Source: own choice, in the textbook form.
#include <optional>

#include "models/isa/lowering/allocation/passes.hpp"
#include "models/isa/lowering/analysis/operation.hpp"
#include "models/isa/lowering/analysis/registers.hpp"

namespace lockstep::isa::lowering {

namespace {

bool is_candidate(const ir::Function& function, const ir::Operation& operation) {
  if (operation.opcode != Opcode::mov || is_guarded(operation) ||
      operation.destinations.size() != 1 || operation.sources.size() != 1)
    return false;
  const ir::Operand& to = operation.destinations[0];
  const ir::Operand& from = operation.sources[0];
  return is_register(to) && is_register(from) && to.kind == from.kind && !from.negated &&
         to.index != from.index &&
         bytes_of(function.registers[to.index].type) ==
             bytes_of(function.registers[from.index].type);
}

bool copies(const ir::Operation& operation, std::uint32_t a, std::uint32_t b) {
  return operation.opcode == Opcode::mov && operation.sources.size() == 1 &&
         is_register(operation.sources[0]) && operation.destinations.size() == 1 &&
         ((operation.destinations[0].index == a && operation.sources[0].index == b) ||
          (operation.destinations[0].index == b && operation.sources[0].index == a));
}

bool interfere(const ir::Function& function, const Flow& flow, const Liveness& liveness,
               std::uint32_t a, std::uint32_t b) {
  if (liveness.live_in[0].contains(a) && liveness.live_in[0].contains(b)) return true;
  for (std::uint32_t block : flow.order) {
    LiveWalker walker = liveness.walk(block);
    const auto& operations = function.blocks[block].operations;
    for (auto o = operations.size(); o-- > 0;) {
      const ir::Operation& operation = operations[o];
      bool writes_a = false, writes_b = false;
      for_each_definition(operation, [&](const ir::Operand& d) {
        writes_a = writes_a || d.index == a;
        writes_b = writes_b || d.index == b;
      });
      if (writes_a && writes_b) return true;
      if (!copies(operation, a, b) &&
          ((writes_a && walker.live().contains(b)) || (writes_b && walker.live().contains(a))))
        return true;
      walker.step_back(operation);
    }
  }
  return false;
}

void rename(ir::Function& function, std::uint32_t from, std::uint32_t to) {
  const auto change = [&](ir::Operand& operand) {
    if (operand.index == from) operand.index = to;
  };
  for (ir::Block& block : function.blocks)
    for (ir::Operation& operation : block.operations) {
      for_each_use(operation, change);
      for_each_definition(operation, change);
      if (is_candidate(function, operation)) continue;
      if (operation.opcode == Opcode::mov && !is_guarded(operation) &&
          operation.sources.size() == 1 && is_register(operation.sources[0]) &&
          !operation.sources[0].negated &&
          operation.sources[0].index == operation.destinations[0].index)
        operation = ir::Operation{};
    }
}

}  // namespace

bool coalesce_copies(ir::Function& function) {
  const Flow flow(function);
  bool changed = false;
  std::optional<Liveness> liveness;
  for (std::uint32_t b : flow.order)
    for (std::size_t o = 0; o < function.blocks[b].operations.size(); ++o) {
      const ir::Operation& operation = function.blocks[b].operations[o];
      if (!is_candidate(function, operation)) continue;
      const std::uint32_t to = operation.destinations[0].index;
      const std::uint32_t from = operation.sources[0].index;
      if (is_formal(function, to) || is_formal(function, from)) continue;
      if (!liveness) liveness.emplace(function, flow);
      if (interfere(function, flow, *liveness, to, from)) continue;
      rename(function, to, from);
      liveness.reset();
      changed = true;
    }
  return changed;
}

}  // namespace lockstep::isa::lowering
