/// In-place switching: some blocks of a running kernel give their registers up, and some their
/// shared memory, so that blocks of a preempting kernel find room; the others keep what they have
/// on chip, and do not run.
///
/// The choice is made for each resource by itself.  Of the contiguous ranges that would hold all
/// preempting blocks, it falls on the one in which the fewest running blocks stand, among equals on
/// the fewest bytes, then on the lowest.
/// Source: 002, section III.A, Figure 4; preemption.md, section 3.1 (the order among equals).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/sm/parameters/sm_places.hpp"

namespace lockstep {

/// Indices of those in the best range of size `wanted` below `end`.
std::vector<std::size_t> in_the_way(std::span<const ResourceRange> running, std::uint32_t wanted,
                                    std::uint32_t end);

/// Returns what each of the running blocks keeps: InPlace bits, in their order.
std::vector<std::uint8_t> kept_in_place(std::span<const BlockRoom> running,
                                        const BlockResources& need, std::uint32_t count,
                                        const OccupancyLimits& limits);

}  // namespace lockstep
