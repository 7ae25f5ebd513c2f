#include "models/sm/blocks/resident_blocks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <vector>

#include "tests/unit/sm/machine/sm_world.hpp"

namespace lockstep::resident_blocks_test {
namespace {

using testing::ElementsAre;

TEST(ResidentBlocks, ABlockTakesTheLowestFreeWarpSlots) {
  SmWorld world;
  const BlockPlace first = world.enter_block(64), second = world.enter_block(96);
  EXPECT_EQ(world.blocks.block(first).warps, 0b00011u);
  EXPECT_EQ(world.blocks.block(second).warps, 0b11100u);
  world.blocks.leave(first);
  EXPECT_EQ(world.blocks.resident(), 0b11100u);
  EXPECT_EQ(world.blocks.block(world.enter_block(96)).warps, 0b100011u);
}

/// Slots of a block's warps, in the order of the warps.
std::vector<unsigned> slots_of(SmWorld& world, BlockPlace place) {
  std::vector<unsigned> slots(std::popcount(world.blocks.block(place).warps));
  for_each_warp(world.blocks.block(place).warps, [&](WarpSlot slot) {
    slots[world.blocks.warp(slot).warp_in_block] = slot.value();
  });
  return slots;
}

TEST(ResidentBlocks, FirstWarpsMoveOnBySubCoresFromBlockToBlock) {
  SmWorld world("", [](SmSetup& setup) { setup.parameters.sub_core_step = 2; });
  EXPECT_THAT(slots_of(world, world.enter_block(128)), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(slots_of(world, world.enter_block(128)), ElementsAre(6, 7, 4, 5));
  EXPECT_THAT(slots_of(world, world.enter_block(96)), ElementsAre(8, 9, 10));
  EXPECT_THAT(slots_of(world, world.enter_block(64)), ElementsAre(14, 11));
  EXPECT_THAT(slots_of(world, world.enter_block(128)), ElementsAre(12, 13, 18, 15));
}

TEST(ResidentBlocks, WarpsWhoseSubCoreIsFullGoElsewhere) {
  SmWorld world("", [](SmSetup& setup) {
    setup.parameters.sub_core_step = 1;
    setup.parameters.warps = 8;
  });
  for (int i = 0; i < 4; ++i) world.enter_block(32);  // one on each
  world.enter_block(32);
  EXPECT_THAT(slots_of(world, world.enter_block(96)), ElementsAre(5, 6, 7));
  EXPECT_EQ(world.blocks.resident(), 0xffu);
}

TEST(ResidentBlocks, TheLastWarpHasOnlyTheThreadsThatAreLeft) {
  SmWorld world;
  world.enter_block(40);
  EXPECT_EQ(world.blocks.warp(WarpSlot(0)).paths.mask(), 0xffffffffu);
  EXPECT_EQ(world.blocks.warp(WarpSlot(1)).paths.mask(), 0xffu);
}

TEST(ResidentBlocks, RegistersOfWarpsDoNotOverlapAndSurviveOtherBlocks) {
  SmWorld world("add.u32 %r1, %r0, 1;");
  const BlockPlace first = world.enter_block(64);
  const auto fill = [&](WarpSlot slot, std::uint32_t value) {
    const Warp& warp = world.blocks.warp(slot);
    std::fill_n(warp.registers, world.blocks.grid_of(warp).rows_per_warp() * isa::warp_size, value);
  };
  fill(WarpSlot(0), 11);
  fill(WarpSlot(1), 22);
  for (int i = 0; i < 6; ++i) world.enter_block(64);  // the arena grows and may move
  const auto expect = [&](WarpSlot slot, std::uint32_t value) {
    const Warp& warp = world.blocks.warp(slot);
    const std::size_t lanes = world.blocks.grid_of(warp).rows_per_warp() * isa::warp_size;
    for (std::size_t i = 0; i < lanes; ++i) ASSERT_EQ(warp.registers[i], value);
  };
  expect(WarpSlot(0), 11);
  expect(WarpSlot(1), 22);
  EXPECT_EQ(world.blocks.block(first).warps_left, 2u);
}

TEST(ResidentBlocks, ALeavingBlockTellsWhatItsGridHasExecutedSinceTheLastOne) {
  SmWorld world;
  const BlockPlace place = world.enter_block(32, 7);
  GridSlot& grid = world.blocks.grid(0);
  grid.counts.warp_instructions = 5;
  grid.counts.thread_instructions = 130;
  const BlockDone done = world.blocks.leave(place);
  EXPECT_EQ(done.block.block, 7u);
  EXPECT_EQ(done.executed.warp, 5u);
  EXPECT_EQ(done.executed.thread, 130u);
  EXPECT_EQ(world.statistics.tenant[0].warp_instructions.value(), 5u);
  EXPECT_EQ(world.blocks.used().blocks, 0u);
}

TEST(ResidentBlocks, ResidencyIsCountedPerTenant) {
  SmWorld world;
  world.blocks.count_residency(SmCycle(100));
  world.enter_block(64, 0, 1);
  world.blocks.count_residency(SmCycle(150));
  EXPECT_EQ(world.statistics.tenant[0].active_cycles.value(), 0u);
  EXPECT_EQ(world.statistics.tenant[1].active_cycles.value(), 50u);
  EXPECT_EQ(world.statistics.tenant[1].warp_cycles.value(), 100u);
}

TEST(ResidentBlocks, AReleaseWaitsForOwnStoresAndThoseBeforeABarrier) {
  SmWorld world;
  const BlockPlace place = world.enter_block(64);
  UnderWay& under_way = world.blocks.under_way();
  const WarpSlot own(0), other(1);
  under_way.stores_begin(other, place, 1);
  EXPECT_TRUE(world.blocks.released(own));
  under_way.order_stores(place);
  EXPECT_FALSE(world.blocks.released(own));
  under_way.store_ends(other, place, 0);
  EXPECT_TRUE(world.blocks.released(own));
  under_way.stores_begin(own, place, 1);
  EXPECT_FALSE(world.blocks.released(own));
}

TEST(ResidentBlocks, RestoredTheyHoldTheSame) {
  SmWorld world("add.u32 %r1, %r0, 1;"), other("add.u32 %r1, %r0, 1;");
  world.enter_block(64, 3);
  world.blocks.warp(WarpSlot(1)).registers[5] = 77;
  world.blocks.warp(WarpSlot(1)).paths.advance();
  save_and_restore(world.blocks, other.blocks);
  EXPECT_EQ(other.blocks.resident(), 3u);
  EXPECT_EQ(other.blocks.warp(WarpSlot(1)).registers[5], 77u);
  EXPECT_EQ(other.blocks.warp(WarpSlot(1)).paths.pc(), 1u);
  EXPECT_THAT(other.blocks.block(BlockPlace(0)).coordinates, ElementsAre(3, 0, 0));
}

TEST(Mistakes, TheHostHearsOfATenantOnce) {
  SmWorld world;
  world.enter_block(32, 2);
  const Mistake mistake = world.mistakes.by(world.blocks.warp(WarpSlot(0)), 0, 5, "what", "advice");
  EXPECT_THAT(mistake.what, testing::HasSubstr("block (2, 0, 0), thread (5, 0, 0): what"));
  world.mistakes.report(TenantId(0), mistake, SmCycle(10));
  world.mistakes.report(TenantId(0), mistake, SmCycle(20));
  EXPECT_EQ(world.sent(SmWorld::host).size(), 1u);
  world.mistakes.report(TenantId(1), mistake, SmCycle(30));
  EXPECT_EQ(world.sent(SmWorld::host).size(), 2u);
}

}  // namespace
}  // namespace lockstep::resident_blocks_test
