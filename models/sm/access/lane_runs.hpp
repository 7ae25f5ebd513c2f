#pragma once

#include <bit>
#include <cstdint>

#include "models/isa/lane_mask.hpp"

namespace lockstep {

/// Largest number of runs for which lanes are handled run by run and by vectors.
inline constexpr int few_runs = 8;

/// Returns how many runs these lanes are.  Bit l of `followers`: lane l + 1 follows lane l.
inline int count_runs(std::uint32_t lanes, std::uint32_t followers) {
  return std::popcount(lanes & ~((followers & lanes) << 1));
}

/// Calls each(first lane, lanes) for each run of these lanes, from the lowest to the highest.
template <class Each>
void for_each_run(std::uint32_t lanes, std::uint32_t followers, Each&& each) {
  while (lanes != 0) {
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    const auto count =
        1 + static_cast<unsigned>(std::countr_one((followers & (lanes >> 1)) >> lane));
    each(lane, count);
    lanes &= ~isa::lanes_from(lane, count);
  }
}

}  // namespace lockstep
