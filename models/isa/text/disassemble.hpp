#pragma once

#include <string>

#include "models/isa/ir.hpp"
#include "models/isa/program.hpp"

namespace lockstep::isa {

std::string name_of(Opcode opcode);
std::string name_of(Type type);

/// Returns the text of a decoded program, one instruction a line: pc, guard, opcode, operands, and
/// registers that it waits for.
std::string disassemble(const Program& program);
/// Returns the text of a function before it is encoded.
std::string disassemble(const ir::Function& function);

}  // namespace lockstep::isa
