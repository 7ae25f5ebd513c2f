#pragma once

#include <smmintrin.h>

#include <algorithm>
#include <cstdint>

#include "core/time/time.hpp"

namespace lockstep {

/// Returns a mask: bit i says whether due[i] < horizon, for up to 64 components. `quiet` becomes
/// the earliest time of the others. The loop takes two at a time without branches, since the
/// pattern of calls looks random.
inline std::uint64_t due_before(const Time* due, std::uint32_t count, Time horizon, Time& quiet) {
  static_assert(sizeof(Time) == sizeof(std::int64_t));
  std::uint64_t called = 0;
  const __m128i limit = _mm_set1_epi64x(horizon.femtoseconds());
  __m128i least = _mm_set1_epi64x(quiet.femtoseconds());
  std::uint32_t i = 0;
  for (; i + 2 <= count; i += 2) {
    const __m128i both = _mm_loadu_si128(reinterpret_cast<const __m128i*>(due + i));
    const __m128i call = _mm_cmpgt_epi64(limit, both);
    called |= std::uint64_t(unsigned(_mm_movemask_pd(_mm_castsi128_pd(call)))) << i;
    const __m128i replace = _mm_andnot_si128(call, _mm_cmpgt_epi64(least, both));
    least = _mm_blendv_epi8(least, both, replace);
  }
  if (i < count) {
    if (due[i] < horizon) {
      called |= std::uint64_t{1} << i;
    } else {
      quiet = std::min(quiet, due[i]);
    }
  }
  quiet = std::min({quiet, Time{_mm_extract_epi64(least, 0)}, Time{_mm_extract_epi64(least, 1)}});
  return called;
}

}  // namespace lockstep
