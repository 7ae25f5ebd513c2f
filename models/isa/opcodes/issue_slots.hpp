/// Machine instructions ptxas makes of an operation; the decoded instruction occupies and counts as
/// many issue slots.
#pragma once

#include "models/isa/ir.hpp"

namespace lockstep::isa {

unsigned issue_slots(const ir::Operation& operation);

/// Rows of the opcode table for which modifiers or operands matter.
namespace slots {
unsigned multiply(const ir::Operation& operation);
unsigned multiply_add(const ir::Operation& operation);
unsigned divide(const ir::Operation& operation);  ///< slots of a division or remainder
unsigned conjunction(const ir::Operation& operation);
unsigned shift(const ir::Operation& operation);
unsigned extract_bits(const ir::Operation& operation);
unsigned insert_bits(const ir::Operation& operation);
unsigned video(const ir::Operation& operation);
unsigned reciprocal(const ir::Operation& operation);
unsigned square_root(const ir::Operation& operation);
unsigned reciprocal_root(const ir::Operation& operation);
unsigned logarithm(const ir::Operation& operation);  ///< slots of a logarithm or power of two
unsigned move(const ir::Operation& operation);
unsigned convert(const ir::Operation& operation);
unsigned fence(const ir::Operation& operation);
unsigned matrix(const ir::Operation& operation);  ///< steps of a wmma
}  // namespace slots

}  // namespace lockstep::isa
