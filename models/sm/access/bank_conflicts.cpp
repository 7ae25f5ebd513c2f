#include "models/sm/access/bank_conflicts.hpp"

#include <array>
#include <bit>

#include "models/isa/lane_mask.hpp"
#include "models/noc/messages.hpp"
#include "models/sm/access/lane_runs.hpp"

namespace lockstep {
namespace {

constexpr unsigned word_bytes = 4;

/// Returns a mask of the words of the line that the lanes of a group want, at most one of each
/// bank.
std::uint32_t wanted_words(const Access& access, const LineGroup& group) {
  const unsigned words_of_a_lane = access.stride <= word_bytes ? 1 : access.stride / word_bytes;
  const std::uint32_t each = (1u << words_of_a_lane) - 1;
  std::uint32_t words = 0;
  for (std::uint32_t lanes = group.lanes; lanes != 0; lanes &= lanes - 1)
    words |= each << access.offset[static_cast<unsigned>(std::countr_zero(lanes))] / word_bytes;
  return words;
}

/// Returns wanted_words() for lanes that want one word each, computed run by run.
std::uint32_t wanted_by_runs(const Access& access, std::uint32_t lanes, std::uint32_t followers) {
  std::uint32_t words = 0;
  for_each_run(lanes, followers, [&](unsigned lane, unsigned count) {
    words |= isa::lanes_from(access.offset[lane] / word_bytes, count);
  });
  return words;
}

}  // namespace

unsigned most_words_of_a_bank(const Access& access) {
  if (access.groups == 1) return 1;
  if (access.contiguous) {
    const auto bytes =
        static_cast<unsigned>(std::popcount(access.active)) * std::uint64_t{access.stride};
    return static_cast<unsigned>((bytes + line_bytes - 1) / line_bytes);
  }
  // Lanes are handled in runs if many lanes stand in few runs.
  const std::uint32_t followers =
      access.stride == word_bytes ? followers_in_lines(access.offset.data(), word_bytes) : 0;
  const bool by_runs = followers != 0 && count_runs(access.active, followers) <= few_runs;
  // Number of words that each bank gives, with one plane for each bit of these numbers.
  std::array<std::uint32_t, 6> planes{};
  for (unsigned g = 0; g < access.groups; ++g) {
    std::uint32_t words = by_runs ? wanted_by_runs(access, access.group[g].lanes, followers)
                                  : wanted_words(access, access.group[g]);
    for (std::uint32_t& plane : planes) {
      const std::uint32_t carry = plane & words;
      plane ^= words;
      words = carry;
    }
  }
  unsigned most = 0;
  std::uint32_t leading = ~std::uint32_t{0};
  for (auto plane = planes.rbegin(); plane != planes.rend(); ++plane) {
    const std::uint32_t with = leading & *plane;
    most = most << 1 | unsigned{with != 0};
    if (with != 0) leading = with;
  }
  return most;
}

}  // namespace lockstep
