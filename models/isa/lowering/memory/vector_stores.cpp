/// A vector is stored from consecutive registers: an element that occurs twice is copied first, as
/// in SASS.
#include "models/isa/lowering/analysis/operation.hpp"
#include "models/isa/lowering/memory/passes.hpp"

namespace lockstep::isa::lowering {

namespace {

ir::Operation copy_of(ir::Function& function, const ir::Operation& store, std::uint32_t index) {
  const Type declared = function.registers[index].type;
  ir::Operation copy;
  copy.opcode = Opcode::mov;
  copy.type = declared;
  copy.line = store.line;
  copy.guard = store.guard;
  copy.sources = {register_operand(index)};
  copy.destinations = {register_operand(new_register(function, declared))};
  return copy;
}

bool stands_before(const ir::Operation& store, std::size_t s) {
  for (std::size_t earlier = 1; earlier < s; ++earlier)
    if (same_value(store.sources[s], store.sources[earlier])) return true;
  return false;
}

}  // namespace

void separate_vector_elements(ir::Function& function) {
  for (ir::Block& block : function.blocks) {
    std::vector<ir::Operation> operations;
    for (ir::Operation& operation : block.operations) {
      if (operation.opcode == Opcode::st)
        for (std::size_t s = operation.sources.size(); s-- > 2;) {
          ir::Operand& source = operation.sources[s];
          if (source.kind != Kind::reg || !stands_before(operation, s)) continue;
          operations.push_back(copy_of(function, operation, source.index));
          source.index = operations.back().destinations[0].index;
        }
      operations.push_back(std::move(operation));
    }
    block.operations = std::move(operations);
  }
}

}  // namespace lockstep::isa::lowering
