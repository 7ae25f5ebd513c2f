#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace lockstep {

inline constexpr std::size_t most_ranked = 256;
/// Keys are ranked in multiples of this: a loop's end costs a wrong guess if it comes at any place.
inline constexpr std::size_t ranked_at_once = 16;

using RankKeys = std::array<std::int32_t, most_ranked>;

/// ranks[i] = how many of the first `count` keys are less than keys[i]: every key is compared with
/// every other, so that no branch depends on them.  `count` is a multiple of `ranked_at_once`.
using CountLesser = void (*)(const RankKeys& keys, std::size_t count, RankKeys& ranks);

/// The ways of doing that which this computer knows, the quickest last: with vectors of 16, 32 and
/// 64 bytes.  All find the same.
std::vector<CountLesser> lesser_counters();

}  // namespace lockstep
