#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/isa/divergence.hpp"
#include "models/isa/text/warp_print.hpp"

namespace lockstep::isa {

/// A warp of a block that is interpreted.
struct InterpretedWarp {
  WarpPaths paths;
  WarpIdentity identity;
  std::uint32_t* rows = nullptr;
  std::uint32_t* predicates = nullptr;
  std::vector<std::vector<std::byte>> local;  ///< local memory of each lane, as far as touched
  WarpPrint print;
  bool multiplies = false;         ///< products of the warp group are under way
  bool is_behind_barrier = false;  ///< the warp has passed a barrier and has loaded nothing since

  /// Returns the lanes that the instruction's guard lets execute it.
  std::uint32_t guarded(const Instruction& instruction, std::uint32_t lanes) const {
    if (instruction.guard == no_predicate) return lanes;
    const std::uint32_t holds = predicates[instruction.guard];
    return lanes & (instruction.guard_negated ? ~holds : holds);
  }
};

}  // namespace lockstep::isa
