#pragma once

#include "models/isa/ir.hpp"
#include "models/isa/lowering/analysis/producers.hpp"

namespace lockstep::isa::lowering {

/// Returns the number of low bits of an operand read at `use` that are known to be zero, from the
/// operations that produce it.
unsigned zero_bits(const Producers& producers, const ir::Operand& operand, Place use,
                   unsigned depth = 8);

}  // namespace lockstep::isa::lowering
