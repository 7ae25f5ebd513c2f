#pragma once

#include <array>
#include <cstdint>

namespace lockstep {

/// Bits for the bytes of a line, one word for each sector.
using LineBytes = std::array<std::uint32_t, 4>;

}  // namespace lockstep
