#include "models/isa/lowering/memory/shared_layout.hpp"

#include <algorithm>

#include "core/memory/round_up.hpp"
#include "models/isa/lowering/analysis/operation.hpp"

namespace lockstep::isa {

SharedLayout lay_out_shared(const std::vector<ir::Variable>& variables,
                            const std::vector<bool>& used) {
  SharedLayout layout;
  layout.offsets.assign(variables.size(), 0);
  std::uint64_t end = 0, open_alignment = 1;
  for (std::size_t v = 0; v < used.size(); ++v) {
    if (!used[v]) continue;
    if (variables[v].bytes == 0) {
      open_alignment = std::max(open_alignment, variables[v].alignment);
      continue;
    }
    layout.offsets[v] = round_up(end, variables[v].alignment);
    end = layout.offsets[v] + variables[v].bytes;
  }
  end = round_up(end, open_alignment);
  for (std::size_t v = 0; v < used.size(); ++v)
    if (used[v] && variables[v].bytes == 0) layout.offsets[v] = end;
  layout.bytes = end;
  return layout;
}

void mark_shared(const ir::Function& function, std::vector<bool>& used) {
  for (const ir::Block& block : function.blocks)
    for (const ir::Operation& operation : block.operations)
      for (const ir::Operand& operand : operation.sources)
        if (operand.kind == ir::Operand::Kind::shared_symbol) used[operand.index] = true;
}

namespace lowering {

namespace {

bool calls(const ir::Function& function) {
  for (const ir::Block& block : function.blocks)
    for (const ir::Operation& operation : block.operations)
      if (operation.opcode == Opcode::call) return true;
  return false;
}

}  // namespace

void place_shared(ir::Function& function) {
  if (!function.is_entry || function.shared_placed || calls(function)) return;
  std::vector<bool> used(function.shared->size(), false);
  mark_shared(function, used);
  const SharedLayout layout = lay_out_shared(*function.shared, used);
  for (ir::Block& block : function.blocks)
    for (ir::Operation& operation : block.operations)
      for (std::size_t s = 0; s < operation.sources.size(); ++s) {
        ir::Operand& operand = operation.sources[s];
        if (operand.kind != Kind::shared_symbol) continue;
        const bool address = s == 0 && accesses_memory(operation.opcode);
        const std::uint64_t window =
            address && operation.space == Space::generic ? shared_window_base : 0;
        const Type type = operand.type;
        operand = immediate_operand(
            operand.value + static_cast<std::int64_t>(layout.offsets[operand.index] + window));
        operand.type = type;
      }
  function.shared_placed = true;
  function.shared_bytes = layout.bytes;
}

}  // namespace lowering

}  // namespace lockstep::isa
