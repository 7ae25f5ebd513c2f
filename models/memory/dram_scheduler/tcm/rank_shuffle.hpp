/// The order of the bandwidth cluster in each interval, so that nobody stays at the bottom.
///
/// Insertion shuffle of n tenants is a cycle of 2n steps.  In step k = 1 ... n the tenant at the
/// k-th position from the top comes to the top, which ends in the opposite order; in step n + k the
/// top one goes back to the k-th position from the bottom, which ends in the first order.  Nice
/// tenants are at the top for most of the time.  Random shuffle takes any order.
/// Source: memory-interference.md, section 2.4 (Kim et al., MICRO 2010).
#pragma once

#include <cstdint>
#include <span>

namespace lockstep {

/// `order`: tenants, the last one at the top; in the order of step 0.
void shuffle_by_insertion(std::span<std::uint16_t> order, std::uint64_t step);
/// Shuffles by numbers that follow from seed and step alone, so that all channels shuffle alike.
void shuffle_at_random(std::span<std::uint16_t> order, std::uint64_t seed, std::uint64_t step);

}  // namespace lockstep
