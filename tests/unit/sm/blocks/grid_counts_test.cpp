#include <gtest/gtest.h>

#include "tests/unit/sm/machine/sm_world.hpp"

namespace lockstep::grid_counts_test {
namespace {

std::vector<GridContribution> taken(SmWorld& world) {
  std::vector<GridContribution> result;
  world.blocks.take_counts(result);
  return result;
}

TEST(GridsOfAnSm, WhatIsCountedOfAGridGoesToItsTenantAndToItsKernel) {
  SmWorld world;
  world.enter_block(64, 0, 1);
  world.blocks.counts(0).l1_hits = 7;
  world.blocks.counts(0).l1_tlb_misses = 2;
  world.blocks.counts(0).stalls[static_cast<std::size_t>(StallCause::memory)] = 9;
  world.blocks.flush_statistics(SmCycle(0));
  EXPECT_EQ(world.statistics.tenant[1].l1_hits.value(), 7u);
  EXPECT_EQ(world.statistics.tenant[1].tlb_misses.value(), 2u);
  EXPECT_EQ(world.statistics.tenant[1].stalls[static_cast<std::size_t>(StallCause::memory)].value(),
            9u);
  const auto counted = taken(world);
  ASSERT_EQ(counted.size(), 1u);
  EXPECT_EQ(counted[0].counts.l1_hits, 7u);
  EXPECT_TRUE(taken(world).empty());
}

TEST(GridsOfAnSm, WhatAGridCountedBeforeItLeftCanStillBeTaken) {
  SmWorld world;
  const BlockPlace place = world.enter_block(64);
  world.blocks.counts(0).l1_hits = 7;
  world.blocks.leave(place);
  world.blocks.forget_grid(0);
  EXPECT_EQ(world.statistics.tenant[0].l1_hits.value(), 7u);
  const auto counted = taken(world);
  ASSERT_EQ(counted.size(), 1u);
  EXPECT_EQ(counted[0].counts.l1_hits, 7u);
}

TEST(GridsOfAnSm, CyclesOfAGridAreThoseInWhichItHasBlocks) {
  SmWorld world;
  world.blocks.count_residency(SmCycle(100));
  const BlockPlace place = world.enter_block(64);
  world.blocks.count_residency(SmCycle(150));
  world.blocks.leave(place);
  world.blocks.flush_statistics(SmCycle(180));
  const auto counted = taken(world);
  ASSERT_EQ(counted.size(), 1u);
  EXPECT_EQ(counted[0].counts.active_cycles, 50u);
  EXPECT_EQ(counted[0].counts.warp_cycles, 100u);
}

TEST(GridsOfAnSm, OneGridIsAloneWhileNoOtherHasBlocks) {
  SmWorld world;
  EXPECT_EQ(world.blocks.counts_of_only_grid(), nullptr);
  const BlockPlace first = world.enter_block(32);
  EXPECT_EQ(world.blocks.counts_of_only_grid(), &world.blocks.counts(0));
  const BlockPlace second = world.enter_block(32, 0, 1);
  EXPECT_EQ(world.blocks.counts_of_only_grid(), nullptr);
  world.blocks.leave(first);
  EXPECT_EQ(world.blocks.counts_of_only_grid(), &world.blocks.counts(1));
  world.blocks.leave(second);
  EXPECT_EQ(world.blocks.counts_of_only_grid(), nullptr);
}

}  // namespace
}  // namespace lockstep::grid_counts_test
