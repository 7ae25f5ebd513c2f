#pragma once

#include "models/isa/reader/translation/translation.hpp"

namespace lockstep::isa {

/// Returns %envreg1 (the high half) or %envreg2, in a register.
ir::Operand workspace_half(Translation& code, const PtxInstruction& instruction, bool high);

}  // namespace lockstep::isa
