/// Copy coalescing: both ends of a copy become one register when neither is written while the other
/// is still needed; the copy disappears.
/// Source: own choice, in the textbook form.
#include <optional>

#include "models/isa/lowering/allocation/passes.hpp"
#include "models/isa/lowering/allocation/renaming.hpp"
#include "models/isa/lowering/analysis/operation.hpp"

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

}  // namespace

bool coalesce_copies(ir::Function& function) {
  const Flow flow(function);
  // Made on demand: a function without copies need not pay for it.
  std::optional<Renaming> renaming;
  bool changed = false;
  for (std::uint32_t b : flow.order)
    for (std::size_t o = 0; o < function.blocks[b].operations.size(); ++o) {
      const ir::Operation& operation = function.blocks[b].operations[o];
      if (!is_candidate(function, operation)) continue;
      const std::uint32_t to = operation.destinations[0].index;
      const std::uint32_t from = operation.sources[0].index;
      if (is_formal(function, to) || is_formal(function, from)) continue;
      if (!renaming) renaming.emplace(function, flow);
      if (renaming->interfere(to, from)) continue;
      renaming->rename(to, from);
      changed = true;
    }
  return changed;
}

}  // namespace lockstep::isa::lowering
