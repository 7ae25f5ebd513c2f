/// Passes that compute the same values with fewer or other operations.
///
/// Each pass is in the file named after it, keeps the function's meaning and returns whether it
/// changed anything.
#pragma once

#include "models/isa/ir.hpp"

namespace lockstep::isa::lowering {

bool propagate_copies(ir::Function& function);
/// `parameters`: kernel parameters and addresses of variables too.
bool fold_constants(ir::Function& function, bool parameters = true);
bool fuse_integers(ir::Function& function);
bool fold_signs(ir::Function& function);
bool merge_logic(ir::Function& function);
bool eliminate_common(ir::Function& function);
bool eliminate_dead(ir::Function& function);
bool hoist_invariants(ir::Function& function);

}  // namespace lockstep::isa::lowering
