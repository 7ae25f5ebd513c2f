/// Spilling of one register: a value goes to the thread's local memory, is fetched before each
/// operation that mentions it, and is saved behind it.  A predicate is kept in a register as 0 or 1
/// and compared again before each use.
#pragma once

#include <cstdint>
#include <vector>

#include "models/isa/ir.hpp"
#include "models/isa/lowering/allocation/live_ranges.hpp"
#include "models/isa/lowering/analysis/flow.hpp"

namespace lockstep::isa::lowering {

/// Spills the victim.  `flow` and `ranges` belong to the function; the ranges are updated.  The
/// registers that replace the victim, each around one operation, are added to `temporaries`.
void spill(ir::Function& function, const Flow& flow, std::uint32_t victim,
           std::vector<LiveRange>& ranges, std::vector<std::uint32_t>& temporaries);

}  // namespace lockstep::isa::lowering
