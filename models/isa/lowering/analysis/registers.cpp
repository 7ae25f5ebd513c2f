#include "models/isa/lowering/analysis/registers.hpp"

#include "models/isa/lowering/analysis/operation.hpp"

namespace lockstep::isa::lowering {

Definitions::Definitions(const ir::Function& function) : entries(function.registers.size()) {
  for (const ir::Operand& input : function.inputs)
    if (is_register(input)) {
      ++entries[input.index].definitions;
      entries[input.index].is_input = true;
    }
  for (const ir::Operand& result : function.results)
    if (is_register(result)) ++entries[result.index].uses;
  for (std::uint32_t b = 0; b < function.blocks.size(); ++b) {
    const auto& operations = function.blocks[b].operations;
    for (std::uint32_t o = 0; o < operations.size(); ++o)
      for_each_definition(operations[o], [&](const ir::Operand& definition) {
        Entry& entry = entries[definition.index];
        ++entry.definitions;
        entry.guarded = entry.guarded || is_guarded(operations[o]);
        entry.definition = {b, o};
      });
  }
  find_uses(function);
}

void Definitions::find_uses(const ir::Function& function) {
  const Flow flow(function);
  for (std::uint32_t b = 0; b < function.blocks.size(); ++b) {
    const auto& operations = function.blocks[b].operations;
    for (std::uint32_t o = 0; o < operations.size(); ++o)
      for_each_use(operations[o], [&](const ir::Operand& use) {
        Entry& entry = entries[use.index];
        ++entry.uses;
        if (entry.is_input || entry.definitions != 1) return;
        const Place at = entry.definition;
        const bool before = at.block == b ? at.operation < o
                                          : flow.reachable(b) && flow.reachable(at.block) &&
                                                flow.dominates(at.block, b);
        entry.dominates = entry.dominates && before;
      });
  }
}

bool Definitions::sources_are_single(const ir::Operation& operation) const {
  bool single = true;
  for_each_use(operation, [&](const ir::Operand& use) { single = single && is_single(use.index); });
  return single;
}

}  // namespace lockstep::isa::lowering
