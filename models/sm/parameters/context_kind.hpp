#pragma once

#include <cstdint>

#include "core/parameters/limits.hpp"

namespace lockstep {

/// Registers that a block takes along when it leaves an SM.
enum class ContextKind : std::uint8_t {
  occupied,               ///< all registers
  live,                   ///< registers that the block's warps need again
  live_compressed,        ///< live registers, compressed warp by warp
  live_compressed_block,  ///< live registers; at a barrier, compressed over the block
};

/// Places where the warps of a preempted block stop.
enum class StopPlaces : std::uint8_t { any, points };

/// Returns the choices of the parameter `points`.
inline Choice stop_places() {
  return choice({"none", "selective"});
}
inline constexpr const char* stop_places_doc =
    "where warps stop to be saved: anywhere, or at the points that the compiler puts into loops "
    "and long stretches of code (002, section IV.A); code without points runs to its end";

/// Returns the choices of the parameter `context`.
inline Choice context_kinds() {
  return choice({"occupied", "live", "live-compressed", "live-compressed-block"});
}
inline constexpr const char* context_kinds_doc =
    "registers in a context: all; those that are live where warps stop; live ones compressed by "
    "warp; or compressed by block where all warps stand at one barrier (002, section III)";

}  // namespace lockstep
