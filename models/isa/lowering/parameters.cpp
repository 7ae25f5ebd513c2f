/// Kernel parameters are constants of the grid: ld.param becomes a move from the constant bank,
/// which constant propagation then folds into the users (SASS: c[0x0][...]).
#include "models/isa/lowering/operation.hpp"
#include "models/isa/lowering/passes.hpp"

namespace lockstep::isa::lowering {

bool fold_parameters(ir::Function& function) {
  if (!function.is_entry) return false;
  bool changed = false;
  for (ir::Block& block : function.blocks)
    for (ir::Operation& operation : block.operations) {
      if (operation.opcode != Opcode::ld || operation.space != Space::parameter ||
          operation.elements != 1 || operation.sources.empty() ||
          operation.sources[0].kind != Kind::parameter || operation.destinations.size() != 1)
        continue;
      // A narrow parameter in a wider register is extended by the load.
      const Type declared = function.registers[operation.destinations[0].index].type;
      if (bytes_of(declared) != bytes_of(operation.type) || bytes_of(declared) < 4) continue;
      operation.opcode = Opcode::mov;
      operation.sources[0].value += operation.offset;
      operation.sources[0].type = operation.type;
      operation.offset = 0;
      operation.space = Space::none;
      changed = true;
    }
  return changed;
}

}  // namespace lockstep::isa::lowering
