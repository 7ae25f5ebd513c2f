#pragma once

#include "models/isa/ir.hpp"
#include "models/isa/lowering/allocation/allocation.hpp"

namespace lockstep::isa::lowering {

/// Registers a kernel holds beside the allocated rows: the stack pointer and the two that the
/// machine keeps for itself since sm_70 (ptxas reports them as used).
inline constexpr std::uint32_t reserved_registers = 3;

/// Rows and predicates for all registers, without spilling; may be more than the maximum.
Allocation assign_rows(const ir::Function& function, std::uint32_t maximum_registers);

/// Moves values to local memory and predicates to registers until everything fits.
Allocation allocate(ir::Function& function, std::uint32_t maximum_registers,
                    std::uint32_t maximum_predicates);

}  // namespace lockstep::isa::lowering
