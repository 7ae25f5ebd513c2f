/// Passes that prepare a function for the machine's registers and keep its meaning.
#pragma once

#include "models/isa/ir.hpp"

namespace lockstep::isa::lowering {

/// Moves constants into registers that no machine instruction takes in their place.
void legalize_operands(ir::Function& function);
/// Gives both ends of a copy one register where they do not interfere.  Returns whether there was
/// such a copy.
bool coalesce_copies(ir::Function& function);

}  // namespace lockstep::isa::lowering
