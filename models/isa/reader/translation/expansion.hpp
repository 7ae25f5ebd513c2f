/// Operations that together make one PTX statement. All have the statement's guard.
#pragma once

#include "models/isa/reader/translation/translation.hpp"

namespace lockstep::isa {

/// Returns the result of an operation in a new register.
ir::Operand compute(Translation& code, const PtxInstruction& instruction, Opcode opcode, Type type,
                    const ir::Operand& a, const ir::Operand& b);
/// Copies 32 bits to an operand of `type`, zeros above.
void widen(Translation& code, const PtxInstruction& instruction, const ir::Operand& from,
           const ir::Operand& to, Type type);
/// Returns the low 32 bits of an operand of `type`.
ir::Operand narrow(Translation& code, const PtxInstruction& instruction, const ir::Operand& operand,
                   Type type);

}  // namespace lockstep::isa
