#pragma once

#include <cstdint>

#include "models/noc/address.hpp"
#include "models/sm/parameters/bandwidth_share.hpp"
#include "models/sm/parameters/context_kind.hpp"
#include "models/sm/parameters/context_traffic.hpp"

namespace lockstep {

/// Pinned GPU memory where SMs keep the contexts of blocks that are not on chip.  Each SM has
/// places of its own there; all places are numbered through.
/// Source: 000, section 4.1 (a preallocated area of GPU memory).
struct ContextArea {
  PhysicalAddress base;           ///< start of the area of all SMs
  std::uint64_t place_bytes = 0;  ///< bytes for the largest block's context, in whole lines
  std::uint32_t places = 0;       ///< places of the SM; 0: blocks do not leave
  std::uint32_t block_warps = 0;  ///< warps of the largest block
  ContextKind kind = ContextKind::occupied;
  StopPlaces stops = StopPlaces::any;  ///< stop places of blocks that a more urgent grid displaces
  ContextTraffic traffic = ContextTraffic::real;
  BandwidthShare share{};
  std::uint32_t first_place = 0;  ///< first place of this SM
  bool tells_stays = false;       ///< the dispatcher is told when a returned block gets on

  PhysicalAddress place(std::uint32_t number) const { return base + number * place_bytes; }
  std::uint32_t place_of(PhysicalAddress line) const {
    return static_cast<std::uint32_t>((line - base) / place_bytes);
  }
  /// Returns the bytes of the SM's own places.
  std::uint64_t bytes() const { return places * place_bytes; }
  /// Returns the number of warps whose local memory is kept beside that of the warps on chip.
  std::uint32_t warps() const { return places * block_warps; }
};

}  // namespace lockstep
