/// Partial context switching: a kernel that comes gets its fair part of each SM at once.
/// Source: 003, sections 1 and 5 (SMK).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/dispatch/dispatcher_bench.hpp"

namespace lockstep::partial_switching_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(FairParts, FillAnSmByTheSmallestDominantShare) {
  OccupancyLimits limits;
  limits.registers = 2048;
  BlockResources small, large;
  small.registers = 256;
  large.registers = 512;
  EXPECT_THAT(fair_parts(std::array{small, large}, limits), ElementsAre(4, 2));
  limits.registers = 2048 + 256;
  EXPECT_THAT(fair_parts(std::array{small, large}, limits), ElementsAre(5, 2));
  EXPECT_THAT(fair_parts(std::array{small, small}, limits), ElementsAre(5, 4)) << "the first first";
  large.registers = 4096;
  EXPECT_THAT(fair_parts(std::array{small, large}, limits), ElementsAre(9, 0));
}

/// SMs with room for two blocks each, all taken by grid 1 when grid 2 comes; one is staged at each.
class PartialSwitchingTest : public ::testing::Test {
 protected:
  void begin(std::uint32_t sms, std::uint32_t urgent_blocks, std::uint32_t waiting = 1) {
    BenchOptions options;
    options.sms = sms;
    options.sharing = "smk";
    options.preemption = "switch";
    bench.emplace(options);
    bench->launch(0, {.grid = 1, .blocks = 3 * sms + waiting});
    bench->launch(200, {.grid = 2, .blocks = urgent_blocks, .tenant = 1});
    bench->run_until(290);
    bench->sent();
    bench->run_until(400);
  }
  /// SM 0 has saved block 1.1 and returned the staged one, and grid 2 has its part.
  void share() {
    begin(1, 3);
    bench->sent();
    bench->block(400, MessageKind::block_returned, 1, 0, 2);
    bench->block(410, MessageKind::block_saved, 1, 0, 1);
    bench->run_until(420);
  }
  std::optional<DispatcherBench> bench;
};

TEST_F(PartialSwitchingTest, TheKernelThatHasMostGivesUpAsFewBlocksAsItTakes) {
  begin(1, 3);
  EXPECT_THAT(bench->sent(), ElementsAre("300 sm0 drain 1 s1")) << "half of the SM";
  bench->block(400, MessageKind::block_returned, 1, 0, 2);
  bench->run_until(410);
  EXPECT_THAT(bench->sent(), IsEmpty());
  bench->block(410, MessageKind::block_saved, 1, 0, 1);
  bench->run_until(420);
  EXPECT_THAT(bench->sent(), ElementsAre("410 sm0 start 2", "410 sm0 block 2.0", "412 sm0 give 1"));
  ASSERT_EQ(bench->dispatcher().preemptions().size(), 1u);
  EXPECT_EQ(bench->dispatcher().preemptions()[0].block.block, 1u);
}

TEST_F(PartialSwitchingTest, SmsMakeRoomForAsManyBlocksAsThereAre) {
  begin(3, 2);
  EXPECT_THAT(bench->sent(), ElementsAre("300 sm0 drain 1 s3", "300 sm1 drain 1 s4"));
}

/// Block 1.4 was staged at SM 0, and waits again.
TEST_F(PartialSwitchingTest, AnSmWhereAKernelHasMoreThanItsPartMakesNoRoomForIt) {
  begin(2, 1, 0);
  EXPECT_THAT(bench->sent(), ElementsAre("300 sm0 drain 1 s2"));
  bench->block(400, MessageKind::block_returned, 1, 0, 4);
  bench->run_until(410);
  EXPECT_THAT(bench->sent(), IsEmpty()) << "SM 1 has two blocks of grid 1";
}

TEST_F(PartialSwitchingTest, APlaceThatGetsFreeIsForTheSmallerShare) {
  share();
  bench->sent();
  bench->block_given(500, 1, 0, 1);
  bench->block_done(510, 2, 0, 0);
  bench->run_until(520);
  EXPECT_THAT(bench->sent(), ElementsAre("500 sm0 resume 1", "510 sm0 block 2.1"));
}

TEST_F(PartialSwitchingTest, ASavedBlockReturnsWhenItIsItsKernelsTurn) {
  share();
  bench->sent();
  bench->block_given(500, 1, 0, 1);
  bench->block_done(510, 1, 0, 0);
  bench->run_until(520);
  EXPECT_THAT(bench->sent(),
              ElementsAre("500 sm0 resume 1", "510 sm0 returns 1.1 from sm0 place 1"))
      << "before 1.2, which has not started";
  bench->block(600, MessageKind::block_restored, 1, 0, 1);
  bench->run_until(700);
  EXPECT_THAT(bench->sent(), ElementsAre("600 sm0 block 1.2"))
      << "staged; the SM makes no more room for grid 2";
}

TEST_F(PartialSwitchingTest, OneThatCannotBeMovedReturnsByItself) {
  share();
  bench->sent();
  bench->block_given(500, 1, 0, std::nullopt);
  bench->block_done(510, 1, 0, 0);
  bench->run_until(520);
  EXPECT_THAT(bench->sent(), ElementsAre("500 sm0 resume 1"));
}

TEST_F(PartialSwitchingTest, ATenantThatEndsWhileItMakesRoomIsDone) {
  begin(1, 3);
  bench->sent();
  bench->abort_tenant(400, 0);
  for (const std::uint64_t block : {0, 1, 2}) bench->block_done(500, 1, 0, block);
  bench->run_until(510);
  EXPECT_THAT(bench->sent(),
              ElementsAre("400 sm0 abort 0", "500 host done 1", "500 sm0 end 1", "500 sm0 start 2",
                          "500 sm0 block 2.0", "502 sm0 block 2.1", "504 sm0 block 2.2"));
}

TEST_F(PartialSwitchingTest, GoesOnAfterSavingAndRestoring) {
  begin(1, 3);
  bench->save_and_restore();
  bench->sent();
  bench->block(400, MessageKind::block_returned, 1, 0, 2);
  bench->block(410, MessageKind::block_saved, 1, 0, 1);
  bench->run_until(411);
  EXPECT_THAT(bench->sent(), ElementsAre("410 sm0 start 2", "410 sm0 block 2.0"));
}

}  // namespace
}  // namespace lockstep::partial_switching_test
