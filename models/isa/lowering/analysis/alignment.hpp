#pragma once

#include "models/isa/ir.hpp"
#include "models/isa/lowering/analysis/producers.hpp"

namespace lockstep::isa::lowering {

/// Low bits known to be zero of an operand read at `use`: what its producers leave aligned.
unsigned zero_bits(const Producers& producers, const ir::Operand& operand, Place use,
                   unsigned depth = 8);

}  // namespace lockstep::isa::lowering
