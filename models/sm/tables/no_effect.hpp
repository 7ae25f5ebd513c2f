#pragma once

#include "models/isa/instruction.hpp"

namespace lockstep {

/// What the SM executes for an instruction whose result nobody reads where it would stand: it
/// issues, occupies its unit and commits.
inline void no_effect(const isa::Instruction&, isa::WarpContext&) {}

inline bool has_effect(const isa::Instruction& instruction) {
  return instruction.execute != &no_effect;
}

}  // namespace lockstep
