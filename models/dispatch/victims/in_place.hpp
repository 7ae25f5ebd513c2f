/// In-place switching: some blocks of a running kernel give up their registers, and some their
/// shared memory, so that blocks of a preempting kernel find room.  The other blocks keep their
/// state on chip and do not run.
///
/// The choice is made for each resource separately.  Among the contiguous ranges that would hold
/// all preempting blocks, the one with the fewest running blocks is chosen, then the one with the
/// fewest bytes, then the lowest.
/// Source: 002, section III.A, Figure 4; preemption.md, section 3.1 (the order among equals).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/sm/parameters/sm_places.hpp"

namespace lockstep {

/// Returns the indices of the blocks in the best range of size `wanted` below `end`.
std::vector<std::size_t> in_the_way(std::span<const ResourceRange> running, std::uint32_t wanted,
                                    std::uint32_t end);

/// Returns InPlace bits of what each running block keeps, in their order.
std::vector<std::uint8_t> kept_in_place(std::span<const BlockRoom> running,
                                        const BlockResources& need, std::uint32_t count,
                                        const OccupancyLimits& limits);

}  // namespace lockstep
