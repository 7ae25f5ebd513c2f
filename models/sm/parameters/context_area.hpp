#pragma once

#include <cstdint>

#include "models/noc/address.hpp"
#include "models/sm/parameters/context_kind.hpp"

namespace lockstep {

/// Pinned GPU memory where an SM keeps the contexts of blocks that are not on chip.
/// Source: 000, section 4.1 (a preallocated area of GPU memory).
struct ContextArea {
  PhysicalAddress base;
  std::uint64_t place_bytes = 0;  ///< for the largest block's context; whole lines
  std::uint32_t places = 0;       ///< 0: blocks do not leave
  std::uint32_t block_warps = 0;  ///< of the largest block
  ContextKind kind = ContextKind::occupied;
  StopPlaces stops = StopPlaces::any;  ///< of blocks that a more urgent grid displaces

  PhysicalAddress place(std::uint32_t number) const { return base + number * place_bytes; }
  std::uint64_t bytes() const { return places * place_bytes; }
  /// Warps whose local memory is kept beside that of those on chip.
  std::uint32_t warps() const { return places * block_warps; }
};

}  // namespace lockstep
