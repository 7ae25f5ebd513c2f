#include "models/sm/access/lane_pattern.hpp"

#include <algorithm>
#include <bit>

namespace lockstep {
namespace {

std::uint32_t lanes_of(std::uint64_t key) {
  return static_cast<std::uint32_t>(key);
}

/// Returns whether each active lane has the same offset as its neighbour at this distance, if the
/// neighbour is active.
bool pairs_agree(const LaneOffsets& offset, std::uint32_t lanes, unsigned distance) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned other = lane ^ distance;
    if ((lanes >> lane & lanes >> other & 1) && offset[lane] != offset[other]) return false;
  }
  return true;
}

/// Returns the cycles that the banks need for these lanes.
unsigned conflict_degree(const LaneOffsets& offset, std::uint64_t key) {
  const std::uint32_t lanes = lanes_of(key);
  const unsigned banks = key >> 32 & 0xffff, bytes = key >> 48 & 0xff;
  const bool serial = key >> 56 & 1, packs = key >> 57 & 1;
  const unsigned words = std::max(1u, bytes / 4);
  unsigned group = 32 / words;  // lanes served together
  if (packs && words > 1 && (pairs_agree(offset, lanes, 1) || pairs_agree(offset, lanes, 2)))
    group *= 2;
  unsigned degree = 0;
  for (unsigned first = 0; first < 32; first += group) {
    std::array<std::uint8_t, 32> load{};
    std::array<std::uint32_t, 32 * 4> seen;
    unsigned distinct = 0, most = 0;
    for (unsigned lane = first; lane < first + group; ++lane) {
      if (!((lanes >> lane) & 1)) continue;
      for (unsigned w = 0; w < words; ++w) {
        const std::uint32_t word = offset[lane] / 4 + w;
        const auto* end = seen.begin() + distinct;
        if (!serial && std::find(seen.begin(), seen.begin() + distinct, word) != end) continue;
        seen[distinct++] = word;
        most = std::max<unsigned>(most, ++load[word % banks]);
      }
    }
    degree += most;
  }
  return std::max(1u, degree);
}

LanePattern::Shape shape_of(const LaneOffsets& relative, std::uint32_t lanes) {
  if (lanes != 0xffffffff) return LanePattern::scattered;
  bool neighbours = true, one = true;
  for (unsigned lane = 0; lane < 32; ++lane) {
    neighbours &= relative[lane] == relative[lane & ~3u] + 4 * (lane & 3);
    one &= relative[lane] == relative[lane & ~3u];
  }
  return neighbours ? LanePattern::quads_of_neighbours
         : one      ? LanePattern::quads_of_one
                    : LanePattern::scattered;
}

/// Returns the difference of each lane's address to the first active one's; zero where inactive.
LaneOffsets relative_to_first(const std::uint32_t* address, std::uint32_t lanes) {
  const std::uint32_t base = address[std::countr_zero(lanes)];
  LaneOffsets relative;
  for (unsigned lane = 0; lane < 32; ++lane)
    relative[lane] = (lanes >> lane) & 1 ? address[lane] - base : 0;
  return relative;
}

}  // namespace

void match_pattern(LanePattern& pattern, std::uint64_t key, const std::uint32_t* address,
                   std::uint32_t base) {
  const std::uint32_t lanes = lanes_of(key);
  const LaneOffsets relative = relative_to_first(address, lanes);
  const bool by_words = base % 4 == 0;
  if (by_words && pattern.key == key && pattern.relative == relative) return;
  pattern = {};
  pattern.key = by_words ? key : 0;
  pattern.relative = relative;
  pattern.shape = shape_of(relative, lanes);
  LaneOffsets offset;
  for (unsigned lane = 0; lane < 32; ++lane) {
    offset[lane] = base + relative[lane];
    pattern.low_bits |= relative[lane];
    pattern.least = std::min(pattern.least, static_cast<std::int32_t>(relative[lane]));
    pattern.most = std::max(pattern.most, static_cast<std::int32_t>(relative[lane]));
  }
  pattern.degree = conflict_degree(offset, key);
}

}  // namespace lockstep
