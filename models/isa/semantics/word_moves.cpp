#include "models/isa/semantics/word_moves.hpp"

#include "models/isa/semantics/families.hpp"

namespace lockstep::isa {

Moves select_moves(const Instruction& instruction, [[maybe_unused]] CpuLevel level) {
#ifndef LOCKSTEP_ONE_LEVEL
  if (level == CpuLevel::v4) return v4::select_moves(instruction);
  if (level == CpuLevel::v3) return v3::select_moves(instruction);
#endif
  return v2::select_moves(instruction);
}

Moves select_moves(const Instruction& instruction) {
  return select_moves(instruction, cpu_level());
}

}  // namespace lockstep::isa
