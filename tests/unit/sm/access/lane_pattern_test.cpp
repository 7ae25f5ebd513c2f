/// How many cycles the banks of shared memory need, by how the lanes lie.
#include "models/sm/access/lane_pattern.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>

namespace lockstep::lane_pattern_test {
namespace {

constexpr std::uint32_t all_lanes = 0xffffffff;

/// Of lane l at `place(l)` times `bytes`.
template <class Place>
unsigned cycles(unsigned bytes, bool packs, Place&& place, std::uint32_t lanes = all_lanes) {
  LaneOffsets address{};
  for (unsigned lane = 0; lane < 32; ++lane) address[lane] = 1024 + place(lane) * bytes;
  LanePattern pattern;
  match_pattern(pattern, LanePattern::key_of(lanes, bytes, 32, false, packs), address.data(), 1024);
  return pattern.degree;
}

unsigned same(unsigned) {
  return 0;
}
unsigned own(unsigned lane) {
  return lane;
}

TEST(LanePattern, VectorsTakeACycleForEachWordOfALane) {
  for (const auto place : {same, own}) {
    EXPECT_EQ(cycles(4, false, place), 1u);
    EXPECT_EQ(cycles(8, false, place), 2u);
    EXPECT_EQ(cycles(16, false, place), 4u);
  }
}

/// forums.developer.nvidia.com, 77228: four requests of a 16-byte load become two.
TEST(LanePattern, PackedReturnsHalveWhatPairsOfLanesShare) {
  EXPECT_EQ(cycles(16, true, same), 2u);
  EXPECT_EQ(cycles(8, true, same), 1u);
  EXPECT_EQ(cycles(4, true, same), 1u);
  EXPECT_EQ(cycles(16, true, [](unsigned lane) { return lane / 2; }), 2u) << "lanes n and n ^ 1";
  EXPECT_EQ(cycles(16, true, [](unsigned lane) { return lane / 4 * 2 + lane % 2; }), 2u)
      << "lanes n and n ^ 2";
}

TEST(LanePattern, PackedReturnsNeedAgreementOfAllPairs) {
  EXPECT_EQ(cycles(16, true, own), 4u);
  EXPECT_EQ(cycles(16, true, [](unsigned lane) { return lane % 16; }), 4u) << "no neighbours";
  const auto one_differs = [](unsigned lane) { return lane == 7 ? 1u : 0u; };
  EXPECT_EQ(cycles(16, true, one_differs), 4u);
  EXPECT_EQ(cycles(16, true, one_differs, all_lanes & ~(1u << 7)), 2u) << "it does not take part";
}

TEST(LanePattern, PackedReturnsStillHaveConflicts) {
  EXPECT_EQ(cycles(16, true, [](unsigned lane) { return lane / 2 * 8; }), 16u)
      << "in each half eight places of the same four banks";
}

/// What a degree means: lanes are served in groups, each for as long as its busiest bank.
unsigned by_definition(const LaneOffsets& address, std::uint32_t lanes, unsigned bytes,
                       bool serial) {
  const unsigned words = std::max(1u, bytes / 4), group = 32 / words;
  unsigned degree = 0;
  for (unsigned first = 0; first < 32; first += group) {
    std::map<std::uint32_t, std::multiset<std::uint32_t>> of_bank;
    for (unsigned lane = first; lane < first + group; ++lane)
      for (unsigned w = 0; w < words && ((lanes >> lane) & 1) != 0; ++w) {
        const std::uint32_t word = address[lane] / 4 + w;
        std::multiset<std::uint32_t>& bank = of_bank[word % 32];
        if (serial || !bank.contains(word)) bank.insert(word);
      }
    std::size_t most = 0;
    for (const auto& [bank, wanted] : of_bank) most = std::max(most, wanted.size());
    degree += static_cast<unsigned>(most);
  }
  return std::max(1u, degree);
}

TEST(LanePattern, IsThatOfTheActiveLanes) {
  std::mt19937 random(11);
  for (int round = 0; round < 5000; ++round) {
    const unsigned bytes = 1u << random() % 5;
    const bool serial = random() % 4 == 0;
    const std::uint32_t lanes = (round % 3 == 0 ? all_lanes : random()) | 1u << random() % 32;
    const unsigned range = 1 + random() % 300;
    LaneOffsets address;
    for (std::uint32_t& of_lane : address) of_lane = 4096 + random() % range * bytes;
    const auto first = static_cast<unsigned>(std::countr_zero(lanes));
    LanePattern pattern;
    match_pattern(pattern, LanePattern::key_of(lanes, bytes, 32, serial), address.data(),
                  address[first]);
    std::int32_t least = 0, most = 0;
    for (unsigned lane = 0; lane < 32; ++lane) {
      const bool active = ((lanes >> lane) & 1) != 0;
      const std::uint32_t relative = active ? address[lane] - address[first] : 0;
      ASSERT_EQ(pattern.relative[lane], relative) << round;
      least = std::min(least, static_cast<std::int32_t>(relative));
      most = std::max(most, static_cast<std::int32_t>(relative));
    }
    ASSERT_EQ(pattern.least, least);
    ASSERT_EQ(pattern.most, most);
    ASSERT_EQ(pattern.degree, by_definition(address, lanes, bytes, serial)) << "round " << round;
  }
}

}  // namespace
}  // namespace lockstep::lane_pattern_test
