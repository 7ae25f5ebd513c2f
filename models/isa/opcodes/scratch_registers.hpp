#pragma once

#include "models/isa/ir.hpp"

namespace lockstep::isa {

/// Returns the registers that ptxas' code for an operation needs beside operands and result.
unsigned scratch_registers(const ir::Operation& operation);

/// For the rows of the opcode table.
namespace scratch {
unsigned divide(const ir::Operation& operation);
unsigned reciprocal(const ir::Operation& operation);
unsigned square_root(const ir::Operation& operation);
}  // namespace scratch

}  // namespace lockstep::isa
