/// Order of the bandwidth cluster in each interval, shuffled so that no tenant stays at the bottom.
///
/// Insertion shuffle of n tenants is a cycle of 2n steps.  In step k = 1 ... n the tenant at the
/// k-th position from the top moves to the top; after n steps the order is reversed.  In step n + k
/// the top tenant moves back to the k-th position from the bottom; after 2n steps the first order
/// is restored.  Nice tenants are at the top for most of the time.  Random shuffle takes any order.
/// Source: memory-interference.md, section 2.4 (Kim et al., MICRO 2010).
#pragma once

#include <cstdint>
#include <span>

namespace lockstep {

/// Shuffles by insertion.  `order`: tenants in the order of step 0, the last one at the top.
void shuffle_by_insertion(std::span<std::uint16_t> order, std::uint64_t step);
/// Shuffles with numbers that depend on seed and step alone, so that all channels shuffle alike.
void shuffle_at_random(std::span<std::uint16_t> order, std::uint64_t seed, std::uint64_t step);

}  // namespace lockstep
