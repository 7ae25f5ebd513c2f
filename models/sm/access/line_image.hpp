/// Lanes of an access and the bytes of one of its lines: which lanes read, store or update which
/// bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "models/noc/messages.hpp"
#include "models/sm/access/access.hpp"
#include "models/sm/access/line_bytes.hpp"

namespace lockstep {

/// Returns the lanes whose data lies in the sectors.
std::uint32_t lanes_in_sectors(const Access& access, const LineGroup& group, std::uint8_t sectors);
/// Copies the bytes that a store writes to their places in the line's `image`.  Returns the mask of
/// these bytes.
LineBytes store_image(const Access& access, const LineGroup& group, std::byte* image);
/// Fills in the records that an atomic sends, `words` of them for each lane.  Returns their number.
unsigned atomic_lanes(const Access& access, const LineGroup& group, unsigned words,
                      std::array<AtomicLane, 32>& records);

}  // namespace lockstep
