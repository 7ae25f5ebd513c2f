/// Passes over loads, stores and their addresses, which keep the function's meaning.
#pragma once

#include "models/isa/ir.hpp"

namespace lockstep::isa::lowering {

/// Folds addresses.  Returns whether anything changed.
bool fold_addresses(ir::Function& function);
/// `through_loops`: addresses that loops count may be aligned, too.
bool merge_loads(ir::Function& function, bool through_loops);
/// Gives the elements of a stored vector different registers.
void separate_vector_elements(ir::Function& function);

}  // namespace lockstep::isa::lowering
