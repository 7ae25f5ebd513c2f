/// The passes of the lowering, each in the file named after it.  All keep the function's meaning;
/// those that return bool say whether they changed anything.
#pragma once

#include <cstdint>

#include "models/isa/ir.hpp"

namespace lockstep::isa::lowering {

bool propagate_copies(ir::Function& function);
/// `parameters`: kernel parameters and addresses of variables too.
bool fold_constants(ir::Function& function, bool parameters = true);
bool fold_addresses(ir::Function& function);
bool fuse_integers(ir::Function& function);
bool fold_signs(ir::Function& function);
bool merge_logic(ir::Function& function);
bool eliminate_common(ir::Function& function);
bool eliminate_dead(ir::Function& function);
bool hoist_invariants(ir::Function& function);
bool predicate_branches(ir::Function& function);
bool simplify_flow(ir::Function& function);
bool merge_loads(ir::Function& function);

/// Puts constants that no machine instruction takes where they stand into registers.
void legalize_operands(ir::Function& function);
/// Elements of a stored vector are different registers.
void separate_vector_elements(ir::Function& function);
/// Gives both ends of a copy one register where they do not disturb each other.
bool coalesce_copies(ir::Function& function);
/// `limit`: rows that may be live before the order of operations gives way to saving rows.
void schedule(ir::Function& function, std::uint32_t limit);

}  // namespace lockstep::isa::lowering
