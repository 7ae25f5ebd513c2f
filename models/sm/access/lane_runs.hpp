#pragma once

#include <smmintrin.h>

#include <bit>
#include <cstdint>

#include "models/isa/lane_mask.hpp"

namespace lockstep {

/// Largest number of runs for which lanes are handled run by run and by vectors.
inline constexpr int few_runs = 8;

/// Largest number of lanes for which a loop over them is faster than vectors over all.
inline constexpr int few_lanes = 16;

/// Returns how many runs these lanes are.  Bit l of `followers`: lane l + 1 follows lane l.
inline int count_runs(std::uint32_t lanes, std::uint32_t followers) {
  return std::popcount(lanes & ~((followers & lanes) << 1));
}

/// Returns the followers among lanes whose bytes stand in lines at these 32 offsets, `bytes` each.
/// Two lanes may be in different lines: the caller asks for lanes of one line.
inline std::uint32_t followers_in_lines(const std::uint8_t* offsets, unsigned bytes) {
  const auto* places = reinterpret_cast<const __m128i*>(offsets);
  const __m128i low = _mm_loadu_si128(places), high = _mm_loadu_si128(places + 1);
  const __m128i step = _mm_set1_epi8(static_cast<char>(bytes));
  const auto equal = [&](__m128i here, __m128i next) {
    return static_cast<std::uint32_t>(
        _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_sub_epi8(next, here), step)));
  };
  // A zero follows the last lane; it matches no place in a line.
  return equal(low, _mm_alignr_epi8(high, low, 1)) | equal(high, _mm_srli_si128(high, 1)) << 16;
}

/// Returns whether the runs of these lanes have `least` lanes each, on average.
inline bool are_long_runs(std::uint32_t lanes, std::uint32_t followers, int least) {
  return std::popcount(lanes) >= least * count_runs(lanes, followers);
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
