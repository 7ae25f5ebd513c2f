/// Spilling of one register: a value goes to the thread's local memory and is fetched before and
/// saved behind each operation that mentions it; a predicate lives in a register as 0 or 1 and is
/// compared again before each use.
#pragma once

#include <cstdint>
#include <vector>

#include "models/isa/ir.hpp"
#include "models/isa/lowering/allocation/live_ranges.hpp"
#include "models/isa/lowering/analysis/flow.hpp"

namespace lockstep::isa::lowering {

/// `flow` and `ranges` are the function's; the ranges are brought up to date.  The registers that
/// stand for the victim, each around one operation, are added to `temporaries`.
void spill(ir::Function& function, const Flow& flow, std::uint32_t victim,
           std::vector<LiveRange>& ranges, std::vector<std::uint32_t>& temporaries);

}  // namespace lockstep::isa::lowering
