#pragma once

#include "models/isa/instruction.hpp"

namespace lockstep {

/// The SM executes this function for an instruction whose result nobody reads where it would stand:
/// the instruction issues, occupies its unit and commits.
inline void no_effect(const isa::Instruction&, isa::WarpContext&) {}

inline bool has_effect(const isa::Instruction& instruction) {
  return instruction.execute != &no_effect;
}

}  // namespace lockstep
