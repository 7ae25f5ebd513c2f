#pragma once

#include "models/isa/instruction.hpp"

namespace lockstep {

/// Replaces the effect of an instruction whose result is not needed: the instruction issues,
/// occupies its unit and commits.
inline void no_effect(const isa::Instruction&, isa::WarpContext&) {}

inline bool has_effect(const isa::Instruction& instruction) {
  return instruction.execute != &no_effect;
}

}  // namespace lockstep
