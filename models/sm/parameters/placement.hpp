#pragma once

#include <cstdint>

namespace lockstep {

/// Rule by which an SM finds room for a block's registers and shared memory: sums alone; or a
/// contiguous place for each, in the first gap, or at a multiple of the block's need.
enum class Placement : std::uint8_t { summed, packed, aligned };

}  // namespace lockstep
