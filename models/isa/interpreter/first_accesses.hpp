/// Accesses that the first warp of a launch certainly makes, found without memory.
///
/// The warp runs on its registers alone.  Loaded values are unknown, and so are all values derived
/// from them (taint by register and predicate).  The run ends where the control flow or the place
/// of a write is unknown, and at the first barrier, behind which other warps matter.
/// Source: Schwartz et al., "All You Ever Wanted to Know About Dynamic Taint Analysis and Forward
/// Symbolic Execution", S&P 2010, section III (which values depend on what is not known).
///
/// Simplified: a register is known or unknown for all lanes together; shuffles, votes and printf
/// are not executed.
#pragma once

#include <cstdint>
#include <functional>

#include "models/isa/interpreter/interpreter.hpp"

namespace lockstep::isa {

struct FirstAccess {
  std::uint64_t address = 0;  ///< address of a lane
  bool writes = false;        ///< true for stores and atomics, which may write
  std::uint32_t line = 0;     ///< PTX line
};

/// Calls `visit` for the accesses in order, lane by lane, as long as they are certain.
void follow_first_warp(const Launch& launch, const std::function<void(const FirstAccess&)>& visit);

}  // namespace lockstep::isa
