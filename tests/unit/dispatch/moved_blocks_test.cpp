/// Blocks that a busy SM has saved return to whichever SM has room first.
/// Source: preemption.md, sections 2 and 6, step 6.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/dispatch/dispatcher_bench.hpp"

namespace lockstep::moved_dispatch_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Two SMs with room for two blocks each; blocks 0 and 2 of grid 1 were saved by SM 0, on which a
/// more urgent grid runs, 1 and 3 run on SM 1.
class MovedBlocksTest : public ::testing::Test {
 protected:
  explicit MovedBlocksTest(std::uint32_t blocks = 4) {
    BenchOptions options;
    options.sms = 2;
    options.preemption = "switch";
    bench.emplace(options);
    bench->launch(0, {.grid = 1, .blocks = blocks});
    bench->launch(200, {.grid = 2, .blocks = 2, .tenant = 1, .priority = 1});
    bench->run_until(400);
    bench->sent();
    if (blocks > 4) bench->block(410, MessageKind::block_returned, 1, 0, 4);
    for (const std::uint64_t block : {0, 2})
      bench->block(420, MessageKind::block_saved, 1, 0, block);
    bench->grid_stopped(420, 1, 0);
    bench->run_until(440);
  }
  std::optional<DispatcherBench> bench;
};

TEST_F(MovedBlocksTest, TheBusySmIsAskedForOneAfterTheOther) {
  EXPECT_THAT(bench->sent(), ElementsAre("420 sm0 start 2", "420 sm0 block 2.0", "422 sm0 give 1",
                                         "424 sm0 block 2.1"));
  bench->block_given(510, 1, 0, 0);
  bench->run_until(520);
  EXPECT_THAT(bench->sent(), ElementsAre("510 sm0 give 1"));
  bench->block_given(600, 1, 0, 2);
  bench->run_until(700);
  EXPECT_THAT(bench->sent(), IsEmpty()) << "there is no other, and no room";
}

TEST_F(MovedBlocksTest, TheyReturnWhereRoomIsFirst) {
  bench->block_given(510, 1, 0, 0);
  bench->block_given(600, 1, 0, 2);
  bench->run_until(610);
  bench->sent();
  bench->block_done(610, 1, 1, 1);
  bench->run_until(620);
  EXPECT_THAT(bench->sent(), ElementsAre("610 sm1 returns 1.0 from sm0 place 0"));
  bench->block_done(630, 1, 1, 3);
  bench->run_until(640);
  EXPECT_THAT(bench->sent(), ElementsAre("630 sm1 returns 1.2 from sm0 place 2"))
      << "beside the one that has not told yet that it has its place";
  for (const std::uint64_t block : {0, 2})
    bench->block(700, MessageKind::block_restored, 1, 1, block);
  bench->context_free(800, 0, 2);
  for (const std::uint64_t block : {0, 2}) bench->block_done(900, 1, 1, block);
  bench->run_until(1000);
  EXPECT_THAT(bench->sent(),
              ElementsAre("800 sm0 free 2", "900 host done 1", "900 sm0 end 1", "900 sm1 end 1"));
}

TEST_F(MovedBlocksTest, TheirOwnSmMayBeTheFirst) {
  bench->block_given(510, 1, 0, 0);
  bench->block_given(600, 1, 0, 2);
  bench->run_until(610);
  bench->sent();
  for (const std::uint64_t block : {0, 1}) bench->block_done(650, 2, 0, block);
  bench->run_until(700);
  EXPECT_THAT(bench->sent(), ElementsAre("650 host done 2", "650 sm0 end 2", "650 sm0 resume 1",
                                         "650 sm0 returns 1.0 from sm0 place 0",
                                         "652 sm0 returns 1.2 from sm0 place 2"));
}

TEST_F(MovedBlocksTest, AnSmThatHasNoneToGiveIsNotAskedAgainBeforeItSavesOne) {
  bench->block_given(510, 1, 0, std::nullopt);
  bench->run_until(520);
  bench->sent();
  bench->block_done(520, 1, 1, 1);
  bench->run_until(600);
  EXPECT_THAT(bench->sent(), IsEmpty());
}

TEST(MovedBlocks, TheFirstSmIsAskedThatHasOneAndNeitherKeepsItNorWasAsked) {
  DispatchedGrid grid;
  grid.arriving = {0, 0, 0};
  for (std::vector<bool>* each : {&grid.stopped_at, &grid.asked, &grid.keeps})
    each->assign(3, each == &grid.stopped_at);
  grid.away = {0, 0, 0};
  EXPECT_EQ(grid.sm_to_ask(), std::nullopt);
  for (const std::uint32_t sm : {0, 1, 2}) grid.goes_away(sm);
  EXPECT_EQ(grid.sm_to_ask(), 0u);
  grid.asked[0] = true;
  EXPECT_EQ(grid.sm_to_ask(), 1u);
  grid.keeps[1] = true;
  EXPECT_EQ(grid.sm_to_ask(), 2u);
  grid.stopped_at[2] = false;
  EXPECT_EQ(grid.sm_to_ask(), std::nullopt);
}

TEST_F(MovedBlocksTest, WhatItHasExecutedThereCounts) {
  bench->block_given(510, 1, 0, 0, {10, 320});
  bench->block_given(600, 1, 0, 2, {5, 160});
  bench->block_done(610, 1, 1, 1, {7, 224});
  bench->block_done(610, 1, 1, 3);
  bench->run_until(620);
  for (const std::uint64_t block : {0, 2})
    bench->block(700, MessageKind::block_restored, 1, 1, block);
  bench->run_until(710);
  bench->sent();
  for (const std::uint64_t block : {0, 2}) bench->block_done(710, 1, 1, block);
  bench->run_until(720);
  EXPECT_EQ(bench->sent().front(), "710 host done 1 22/704");
}

TEST_F(MovedBlocksTest, OneThatIsUnderWayWhenItsTenantEndsIsDone) {
  bench->block_given(510, 1, 0, 0);
  bench->run_until(520);
  bench->sent();
  bench->abort_tenant(530, 0);
  bench->block_given(540, 1, 0, 2);
  for (const std::uint64_t block : {1, 3}) bench->block_done(600, 1, 1, block);
  bench->run_until(700);
  EXPECT_THAT(bench->sent(),
              ElementsAre("530 sm0 abort 0", "530 sm0 free 0", "530 sm1 abort 0", "540 sm0 free 2",
                          "600 host done 1", "600 sm0 end 1", "600 sm1 end 1"));
}

TEST_F(MovedBlocksTest, GoesOnAfterSavingAndRestoringWithOneInHandAndOneAskedFor) {
  bench->block_given(510, 1, 0, 0);
  bench->run_until(520);
  bench->save_and_restore();
  bench->block_given(600, 1, 0, 2);
  bench->run_until(610);
  bench->sent();
  bench->block_done(610, 1, 1, 1);
  bench->run_until(620);
  EXPECT_THAT(bench->sent(), ElementsAre("610 sm1 returns 1.0 from sm0 place 0"));
}

/// The same with two blocks that have not started, one of them staged at SM 1.
class MovedBlocksFirstTest : public MovedBlocksTest {
 protected:
  MovedBlocksFirstTest() : MovedBlocksTest(6) {}
};

TEST_F(MovedBlocksFirstTest, TheyReturnBeforeBlocksThatHaveNotStarted) {
  bench->sent();
  bench->block_done(500, 1, 1, 1);  // 5 starts in its place
  bench->run_until(510);
  EXPECT_THAT(bench->sent(), ElementsAre("500 sm0 give 1")) << "4 is not staged";
  bench->block_given(600, 1, 0, 0);
  bench->block_given(700, 1, 0, 2);
  bench->block_done(800, 1, 1, 3);
  bench->run_until(900);
  EXPECT_THAT(bench->sent(), ElementsAre("600 sm0 give 1", "800 sm1 returns 1.0 from sm0 place 0"));
}

TEST(GivenBackSm, IsNobodysWhenAGridEndsThatHadNothingForIt) {
  BenchOptions options;
  options.sms = 2;
  options.preemption = "switch";
  DispatcherBench bench(options);
  bench.launch(0, {.grid = 1, .blocks = 2});
  bench.launch(200, {.grid = 2, .blocks = 4, .tenant = 1, .priority = 1});
  bench.run_until(400);
  bench.block_done(420, 1, 0, 0);
  bench.block(420, MessageKind::block_saved, 1, 1, 1);
  for (const std::uint32_t sm : {0, 1}) bench.grid_stopped(420, 1, sm);
  bench.run_until(500);
  bench.sent();
  for (const std::uint64_t block : {0, 2}) bench.block_done(510, 2, 0, block);
  bench.run_until(520);
  EXPECT_THAT(bench.sent(), ::testing::Contains("510 sm0 resume 1")) << "for what SM 1 has saved";
  bench.block_given(530, 1, 1, std::nullopt);
  for (const std::uint64_t block : {1, 3}) bench.block_done(540, 2, 1, block);
  bench.run_until(550);
  bench.block(560, MessageKind::block_restored, 1, 1, 1);
  bench.block_done(600, 1, 1, 1);
  bench.run_until(610);
  bench.sent();
  bench.launch(700, {.grid = 3, .blocks = 4});
  bench.launch(900, {.grid = 4, .blocks = 4, .tenant = 1, .priority = 1});
  bench.run_until(1100);
  EXPECT_THAT(bench.sent(), ::testing::IsSupersetOf({"800 sm0 start 3", "1000 sm0 save 3"}));
}

}  // namespace
}  // namespace lockstep::moved_dispatch_test
