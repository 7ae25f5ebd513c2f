/// Passes over blocks and branches.
///
/// Each pass is in the file named after it, keeps the function's meaning and returns whether it
/// changed anything.
#pragma once

#include "models/isa/ir.hpp"

namespace lockstep::isa::lowering {

bool predicate_branches(ir::Function& function);
bool simplify_flow(ir::Function& function);
bool unroll_loops(ir::Function& function);

}  // namespace lockstep::isa::lowering
