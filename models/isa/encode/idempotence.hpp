/// Idempotence: the time until which a thread block can be dropped and run again from its start.
///
/// A block is idempotent until it first executes an atomic operation, or a store that may overwrite
/// global data that its kernel reads.  The origins of pointers are followed through the registers
/// of the lowered program: from parameters, from addresses of module variables, or from anywhere
/// (loaded, or not understood).  A value written under a predicate is the one read under the same
/// predicate: branches that became predicates leave such code.  The launch tells which parameters
/// point into the same buffer.
/// Source: 003, section 4.1 and 002, section II.B (the relaxed condition of Chimera);
/// preemption.md, section 2.2 with its errata (printf, pinned memory, malloc and aliasing
/// arguments).
///
/// Simplified: a kernel that calls functions is not followed: each of its stores counts.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/isa/program.hpp"

namespace lockstep::isa {

/// Possible origins of a pointer.  Bit i < 62: the parameter at bytes [8 i, 8 i + 8).
using PointerOrigins = std::uint64_t;
inline constexpr PointerOrigins from_variables = PointerOrigins{1} << 62;
inline constexpr PointerOrigins from_anywhere = PointerOrigins{1} << 63;

/// Number of followed parameters; parameters at higher places may point anywhere.
inline constexpr unsigned most_followed_parameters = 62;

/// Use of global memory by a kernel.
struct GlobalUse {
  struct Write {
    std::uint32_t pc = 0;
    /// Origins of the addresses; from_anywhere: not repeatable, wherever they point.
    PointerOrigins origins = 0;
  };
  PointerOrigins read = 0;
  PointerOrigins stored = 0;  ///< origins of the addresses that stores and atomics write
  std::vector<Write> writes;  ///< write of each instruction, by pc
  /// Origins of the address of each load, store and atomic of global memory, by pc; 0 elsewhere.
  std::vector<PointerOrigins> addresses;

  PointerOrigins written() const;
  /// Returns the origins through which data is written that is also read.  `buffer_of(i)`: number
  /// of the buffer that parameter i points into, 0 for none.
  PointerOrigins overwritten(const std::function<std::uint32_t(unsigned)>& buffer_of) const;
};

GlobalUse find_global_use(const Program& program);

/// Returns whether executing the write ends the block's idempotence.
constexpr bool ends_idempotence(const GlobalUse::Write& write, PointerOrigins overwritten) {
  return (write.origins & (overwritten | from_anywhere)) != 0;
}

}  // namespace lockstep::isa
