/// How many cycles the banks of shared memory need, by how the lanes lie.
#include "models/sm/access/lane_pattern.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace lockstep::lane_pattern_test
