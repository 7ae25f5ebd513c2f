#pragma once

#include "models/isa/ir.hpp"
#include "models/isa/lowering/allocation/allocation.hpp"
#include "models/isa/lowering/allocation/live_ranges.hpp"

namespace lockstep::isa::lowering {

/// Registers of a kernel besides the allocated rows: the stack pointer, and the two that the
/// machine reserves since sm_70 (ptxas reports them as used).
inline constexpr std::uint32_t reserved_registers = 3;

/// Returns rows and predicates for all registers, without spilling; may be more than the maximum.
/// `ranges`: the function's live ranges.
Allocation assign_rows(const ir::Function& function, const std::vector<LiveRange>& ranges,
                       std::uint32_t maximum_registers);
/// Gives the registers places among those of their width, if an encoded program would have too many
/// rows otherwise.
void separate_pairs(const ir::Function& function, const std::vector<LiveRange>& ranges,
                    Allocation& allocation);
/// Returns Allocation::predicates of assign_rows.
std::uint32_t count_predicates(const ir::Function& function, const std::vector<LiveRange>& ranges);

/// Moves values to local memory and predicates to registers until everything fits.
Allocation allocate(ir::Function& function, std::uint32_t maximum_registers,
                    std::uint32_t maximum_predicates);

}  // namespace lockstep::isa::lowering
