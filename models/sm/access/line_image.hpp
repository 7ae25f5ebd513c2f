/// What the lanes of an access have to do with the bytes of one of its lines.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "models/noc/messages.hpp"
#include "models/sm/access/access.hpp"
#include "models/sm/access/line_bytes.hpp"

namespace lockstep {

/// Those whose data lies in the sectors.
std::uint32_t lanes_in_sectors(const Access& access, const LineGroup& group, std::uint8_t sectors);
/// What a store writes: the bytes in the places of their line, and which ones they are.
LineBytes store_image(const Access& access, const LineGroup& group, std::byte* image);
/// What an atomic sends, `words` records for each lane; returns how many.
unsigned atomic_lanes(const Access& access, const LineGroup& group, unsigned words,
                      std::array<AtomicLane, 32>& records);

}  // namespace lockstep
