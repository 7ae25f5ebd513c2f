#include "models/isa/lowering/analysis/producers.hpp"

#include "models/isa/lowering/analysis/operation.hpp"

namespace lockstep::isa::lowering {

const ir::Operation* Producers::find(const ir::Operand& operand, Place use) const {
  if (!is_register(operand) || !definitions_.is_single(operand.index)) return nullptr;
  const auto& entry = definitions_[operand.index];
  if (entry.is_input) return nullptr;
  const Place at = entry.definition;
  const ir::Operation& operation = function_.blocks[at.block].operations[at.operation];
  if (is_guarded(operation) || operation.carry_out || operation.destinations.size() != 1 ||
      operation.destinations[0].index != operand.index)
    return nullptr;
  bool same = true;
  for_each_use(operation, [&](const ir::Operand& source) {
    same = same && (definitions_.is_single(source.index) || unchanged(source.index, at, use));
  });
  return same ? &operation : nullptr;
}

// Within one block: nobody writes the register on the way.
bool Producers::unchanged(std::uint32_t index, Place from, Place to) const {
  if (from.block != to.block || from.operation >= to.operation) return false;
  const auto& operations = function_.blocks[from.block].operations;
  for (std::uint32_t o = from.operation; o < to.operation; ++o) {
    bool written = false;
    for_each_definition(operations[o],
                        [&](const ir::Operand& d) { written = written || d.index == index; });
    if (written) return false;
  }
  return true;
}

}  // namespace lockstep::isa::lowering
