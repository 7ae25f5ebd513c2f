/// Blocks that come and go, with the parts that hold what they take; nothing issues.
#include "models/sm/turnover/block_turnover.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/sm/front_end/issue_path.hpp"
#include "tests/unit/sm/machine/turnover_world.hpp"

namespace lockstep::block_turnover_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

void two_block_slots(SmSetup& setup) {
  setup.parameters.blocks = 2;
  setup.record_blocks = true;
}

void late_start(SmSetup& setup) {
  two_block_slots(setup);
  setup.parameters.block_start = Cycles{50};
}

class BlockTurnoverTest : public testing::Test, protected TurnoverWorld {
 protected:
  explicit BlockTurnoverTest(void (*configure)(SmSetup&) = two_block_slots)
      : TurnoverWorld(configure) {}

  void start_grid(std::uint32_t number, std::uint16_t tenant = 0) {
    GridLaunch launch;
    launch.grid = number;
    launch.tenant = tenant;
    launch.blocks = {64, 1, 1};
    launch.threads = {32, 1, 1};
    launch.parameter_bytes = 24;
    turnover.start_grid(launch, std::vector<std::byte>(24));
  }
  void stage(std::uint32_t grid, std::uint64_t block, std::int64_t now) {
    turnover.stage({grid, 0, block}, {}, SmCycle(now));
  }
  /// All threads of the warp end; it has no requests.
  void end_warp(unsigned slot, std::int64_t now) {
    const WarpSlot warp(static_cast<std::uint16_t>(slot));
    front_end.call_off(bit_of(warp));
    world.blocks.warp(warp).paths.exit(~0u);
    front_end.evaluate(warp, world.blocks.warp(warp), SmCycle(now));
  }
  /// Blocks that the dispatcher was told of.
  std::vector<std::uint64_t> done() {
    std::vector<std::uint64_t> blocks;
    for (const MessageHeader* message : world.sent(SmWorld::dispatcher))
      blocks.push_back(message->body<BlockDone>().block.block);
    return blocks;
  }
};

TEST_F(BlockTurnoverTest, AStagedBlockTakesThePlaceOfOneThatEnds) {
  start_grid(5);
  for (std::uint64_t block = 0; block < 3; ++block) stage(5, block, 10);
  EXPECT_EQ(world.blocks.resident(), 0b11u);
  EXPECT_THAT(done(), IsEmpty());
  end_warp(1, 20);
  EXPECT_THAT(done(), ElementsAre(1));
  EXPECT_EQ(world.blocks.resident(), 0b11u);
  EXPECT_EQ(world.blocks.block(BlockPlace(1)).index, 2u);
}

struct LateStartTest : BlockTurnoverTest {
  LateStartTest() : BlockTurnoverTest(late_start) {}
};

TEST_F(LateStartTest, WarpsOfABlockIssueSoManyCyclesAfterItHasTakenItsPlace) {
  start_grid(5);
  stage(5, 0, 10);
  EXPECT_EQ(world.blocks.resident(), 0b1u);
  EXPECT_EQ(front_end.next_event(), SmCycle(60));
  EXPECT_TRUE(front_end.sleeping().asleep(WarpSlot(0))) << "it may leave before that";
}

TEST_F(BlockTurnoverTest, TheLogHasBlocksInTheOrderOfTheirEndThenThoseThatAreHere) {
  start_grid(5);
  for (std::uint64_t block = 0; block < 3; ++block) stage(5, block, 10);
  end_warp(1, 20);
  const auto at = [&](std::int64_t cycle) { return world.constants.time_of(SmCycle(cycle)); };
  const auto row = [](std::uint64_t block, Time started, Time done) {
    return testing::AllOf(
        testing::Field(&BlockRecord::reference, testing::Field(&BlockReference::block, block)),
        testing::Field(&BlockRecord::started, started), testing::Field(&BlockRecord::done, done));
  };
  EXPECT_THAT(turnover.log().records(),
              ElementsAre(row(1, at(10), at(20)), row(0, at(10), Time::never()),
                          row(2, at(20), Time::never())));
}

TEST_F(BlockTurnoverTest, StagedBlocksOfAnEndedTenantAreNotInTheLog) {
  start_grid(5, 0);
  start_grid(6, 1);
  stage(6, 0, 10);
  stage(6, 1, 10);
  stage(5, 7, 10);
  turnover.abort_tenant(TenantId(0), SmCycle(12));
  EXPECT_THAT(turnover.log().records(), testing::SizeIs(2));
}

TEST_F(BlockTurnoverTest, ABlocksWarpsIssueFromTheNextCycleOn) {
  start_grid(5);
  stage(5, 0, 10);
  EXPECT_EQ(front_end.next_event(), SmCycle(11));
}

TEST_F(BlockTurnoverTest, AGridIsForgottenWhenItHasEndedAndItsLastBlockIsDone) {
  start_grid(5);
  stage(5, 0, 10);
  turnover.end_grid(GridId(5));
  EXPECT_TRUE(world.blocks.grid(0).used);
  EXPECT_FALSE(turnover.empty());
  end_warp(0, 20);
  EXPECT_FALSE(world.blocks.grid(0).used);
  EXPECT_TRUE(turnover.empty());
}

TEST_F(BlockTurnoverTest, AnEndedTenantsBlocksLeaveAndOthersTakeTheirPlace) {
  start_grid(5, 0);
  start_grid(6, 1);
  stage(5, 0, 10);
  stage(5, 1, 10);
  stage(6, 9, 10);
  front_end.begin_cycle(SmCycle(11));  // nobody waits for its first fetch any more
  turnover.abort_tenant(TenantId(0), SmCycle(12));
  EXPECT_THAT(done(), ElementsAre(0, 1));
  EXPECT_EQ(world.blocks.block(BlockPlace(0)).index, 9u);
}

TEST_F(BlockTurnoverTest, StagedBlocksOfAnEndedTenantAreGivenBackUnused) {
  start_grid(5, 0);
  start_grid(6, 1);
  stage(6, 0, 10);
  stage(6, 1, 10);
  stage(5, 7, 10);
  turnover.abort_tenant(TenantId(0), SmCycle(12));
  EXPECT_THAT(done(), ElementsAre(7));
  EXPECT_EQ(world.blocks.resident(), 0b11u);
}

TEST_F(BlockTurnoverTest, TheFirstBlockOfAGridDropsCleanLines) {
  const std::uint32_t before = l1.cache().epoch();
  start_grid(5);
  EXPECT_NE(l1.cache().epoch(), before);
}

}  // namespace
}  // namespace lockstep::block_turnover_test
