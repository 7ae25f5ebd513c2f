/// Meanings of ir::Operation::mode of what surface instructions become.
#pragma once

#include <cstdint>

namespace lockstep::isa {

/// Of tex_row: what is outside of a surface's slice is outside of all, or is brought to its edge.
enum class SliceMode : std::uint16_t { texture, surface, clamped_surface };
/// Bits of surf_address: what lies outside is brought to the edge; y counts rows of all slices.
inline constexpr std::uint16_t surface_clamps = 1, surface_has_slices = 2;
/// Of the trap of an access that lies outside, beside those of ir::TrapReason.
inline constexpr std::uint16_t outside_surface_trap = 2;

}  // namespace lockstep::isa
