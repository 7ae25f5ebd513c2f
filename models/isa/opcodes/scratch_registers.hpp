#pragma once

#include "models/isa/ir.hpp"

namespace lockstep::isa {

/// Registers besides operands and result that what ptxas makes of an operation needs.
unsigned scratch_registers(const ir::Operation& operation);

}  // namespace lockstep::isa
