#pragma once

#include "models/isa/ir.hpp"

namespace lockstep::isa {

/// Makes one fma of a product and a sum without rounding modifiers, in place.  This changes bits,
/// so that it is no pass of the lowering: it comes before the program as read and the lowered one
/// part.  Successors of the blocks are known.
void contract_products(ir::Function& function);

}  // namespace lockstep::isa
