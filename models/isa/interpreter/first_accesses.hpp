/// Places that the first warp of a launch surely reads and writes, found without memory.
///
/// The warp runs on its registers alone.  What it loads is unknown, and so is what follows from
/// that: taint, by register and predicate.  The warp is left where its course, or a place that it
/// writes, is unknown, and at its first barrier, behind which other warps have a say.
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

/// Calls `visit` for the accesses in their order, lane by lane, as far as they are sure.
void follow_first_warp(const Launch& launch, const std::function<void(const FirstAccess&)>& visit);

}  // namespace lockstep::isa
