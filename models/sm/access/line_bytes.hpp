#pragma once

#include <array>
#include <cstdint>

namespace lockstep {

/// A bit for each byte of a line, by sector.
using LineBytes = std::array<std::uint32_t, 4>;

}  // namespace lockstep
