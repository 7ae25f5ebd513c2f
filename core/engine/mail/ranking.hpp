#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace lockstep {

inline constexpr std::size_t most_ranked = 256;
/// Keys are ranked in multiples of this number: a loop with any other length ends with a
/// mispredicted branch.
inline constexpr std::size_t ranked_at_once = 16;

using RankKeys = std::array<std::int32_t, most_ranked>;

/// Sets ranks[i] to the number of the first `count` keys that are less than keys[i].  Every key is
/// compared with every other, so that no branch depends on them.  `count` is a multiple of
/// `ranked_at_once`.
using CountLesser = void (*)(const RankKeys& keys, std::size_t count, RankKeys& ranks);

/// Returns the implementations that this computer can execute, the quickest last: with vectors of
/// 16, 32 and 64 bytes.  All give the same result.
std::vector<CountLesser> lesser_counters();

}  // namespace lockstep
