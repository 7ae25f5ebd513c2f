#include "models/sm/warp_scheduler/warp_scheduler.hpp"

#include <gtest/gtest.h>

namespace lockstep::warp_scheduler_test {
namespace {

PolicyChoice named(const std::string& name) {
  for (const PolicyInfo& info : warp_scheduler_policies())
    if (info.name == name) return PolicyChoice(info);
  throw InternalError(name);
}

TEST(WarpScheduler, LooseRoundRobinGoesAroundAndSkips) {
  LooseRoundRobin policy(4);
  EXPECT_EQ(policy.choose(0, 0b1011), 0u);
  EXPECT_EQ(policy.choose(0, 0b1011), 1u);
  EXPECT_EQ(policy.choose(0, 0b1011), 3u);
  EXPECT_EQ(policy.choose(0, 0b1011), 0u);
  EXPECT_EQ(policy.choose(0, std::uint64_t{1} << 63), 63u);
  EXPECT_EQ(policy.choose(0, 0b1000), 3u);
}

TEST(WarpScheduler, GreedyStaysAndFallsBackToTheOldest) {
  GreedyThenOldest policy(8);
  for (unsigned warp : {5, 2, 7}) policy.added(1, warp);
  EXPECT_EQ(policy.choose(1, 0b10100100), 5u);
  EXPECT_EQ(policy.choose(1, 0b10100100), 5u);
  EXPECT_EQ(policy.choose(1, 0b10000100), 2u);
  EXPECT_EQ(policy.choose(1, 0b10100100), 2u);
  policy.removed(1, 5);
  EXPECT_EQ(policy.choose(1, 0b10000000), 7u);
}

TEST(WarpScheduler, GreedySchedulersDoNotTakeEachOthersWarps) {
  GreedyThenOldest policy(4);
  for (unsigned warp = 64; warp-- > 0;) policy.added(warp % 4, warp);
  for (unsigned side = 0; side < 4; ++side)
    EXPECT_EQ(policy.choose(side, 0x1111111111111110u << side), 60 + side);
  policy.removed(2, 62);
  EXPECT_EQ(policy.choose(2, 0x0444444444444444u), 58u);
  EXPECT_EQ(policy.choose(3, 0x0888888888888888u), 59u);
}

TEST(WarpScheduler, TwoLevelPrefersItsActiveSet) {
  TwoLevel policy({.active_warps = 2}, 4);
  EXPECT_EQ(policy.choose(0, 0b1111), 0u);
  EXPECT_EQ(policy.choose(0, 0b1111), 1u);
  EXPECT_EQ(policy.choose(0, 0b1111), 0u);
  policy.stalled(0, 0);
  // Warp 2 takes the free place; 3 stays outside.
  for (int i = 0; i < 8; ++i) EXPECT_NE(policy.choose(0, 0b1110), 3u);
  EXPECT_EQ(policy.choose(0, 0b0100), 2u);
}

TEST(WarpScheduler, EveryPolicyChoosesACandidateAndStarvesNoneThatWaitsAlone) {
  for (const PolicyInfo& info : warp_scheduler_policies()) {
    WarpScheduler scheduler = make_warp_scheduler(named(info.name), 4);
    std::uint64_t random = 7;
    std::visit(
        [&](auto& policy) {
          for (unsigned warp = 0; warp < 64; ++warp) policy.added(warp % 4, warp);
          for (int i = 0; i < 10'000; ++i) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            const unsigned side = (random >> 60) & 3;
            const std::uint64_t candidates =
                (random ^ (random >> 7)) & (0x1111111111111111u << side);
            if (candidates == 0) continue;
            const unsigned warp = policy.choose(side, candidates);
            ASSERT_LT(warp, 64u) << info.name;
            ASSERT_TRUE((candidates >> warp) & 1) << info.name;
            if (i % 3 == 0) policy.stalled(side, warp);
          }
        },
        scheduler);
  }
}

}  // namespace
}  // namespace lockstep::warp_scheduler_test
