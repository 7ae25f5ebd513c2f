/// Registers that products of warp groups read while they are under way.
///
/// A wgmma with A in registers reads them until the wait for its group is over, so that nothing
/// else may get their rows before.  The waits therefore name these registers as operands, which
/// only allocation looks at.  Source: PTX ISA 9.0, "wgmma.mma_async", "wgmma.wait_group".
#pragma once

#include <vector>

#include "models/isa/ir.hpp"
#include "models/isa/lowering/analysis/flow.hpp"

namespace lockstep::isa::lowering {

/// Adds to each wait the registers of A that no product may read any more behind it.
void hold_operands(ir::Function& function, const Flow& flow);

/// Returns, by register, whether it is A of a product of a warp group.
std::vector<bool> operands_a(const ir::Function& function);

/// Returns whether the operation is a wait for products, whose operands hold registers.
bool holds_operands(const ir::Operation& operation);

}  // namespace lockstep::isa::lowering
