/// Meanings of ir::Operation::mode of the operations that surface instructions become.
#pragma once

#include <cstdint>

namespace lockstep::isa {

/// Mode of tex_row: texels outside of a surface's slice count as outside, or are moved to its edge.
enum class SliceMode : std::uint16_t { texture, surface, clamped_surface };
/// Bits of surf_address: places outside are brought to the edge; y counts rows of all slices.
inline constexpr std::uint16_t surface_clamps = 1, surface_has_slices = 2;
/// Detail of the trap for an access outside of a surface, beside those of ir::TrapReason.
inline constexpr std::uint16_t outside_surface_trap = 2;

}  // namespace lockstep::isa
