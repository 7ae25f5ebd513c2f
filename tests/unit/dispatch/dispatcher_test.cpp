#include "models/dispatch/dispatcher.hpp"

#include "core/error/error.hpp"
#include "tests/unit/core/parameters/expect_error.hpp"
#include "tests/unit/dispatch/dispatcher_bench.hpp"

namespace lockstep::dispatcher_test {
namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Dispatcher, IdleDispatcherSleeps) {
  DispatcherBench bench;
  EXPECT_EQ(bench.dispatcher().next_activity(), Time::never());
  EXPECT_TRUE(bench.dispatcher().finished());
}

TEST(Dispatcher, FirstBlockLeavesAtTheClockEdgeAfterTheLaunchLatency) {
  DispatcherBench bench;
  bench.launch(5.5, {.grid = 7, .blocks = 1});
  bench.run_until(1000);
  EXPECT_THAT(bench.sent(), ElementsAreArray({"106 sm0 start 7", "106 sm0 block 7.0"}));
}

TEST(Dispatcher, NothingLeavesBeforeTheLaunchLatency) {
  DispatcherBench bench;
  bench.launch(5.5, {.grid = 7});
  bench.run_until(106);
  EXPECT_THAT(bench.sent(), IsEmpty());
  EXPECT_EQ(bench.dispatcher().next_activity(), Time{106'000'000});
}

TEST(Dispatcher, LatencyOfALaunchThatWasQueuedBeginsAtTheEndOfTheOneBefore) {
  DispatcherBench bench({.launch_overlap = true});
  bench.launch(0, {.grid = 1, .stream = 3});
  bench.run_until(150);
  bench.block_done(200, 1, 0, 0);
  bench.run_until(220);
  bench.sent();
  bench.save_and_restore();
  bench.launch(240, {.grid = 2, .stream = 3, .queued = true});
  bench.run_until(350);
  EXPECT_THAT(bench.sent(), ElementsAreArray({"300 sm1 start 2", "300 sm1 block 2.0"}));
  bench.block_done(400, 2, 1, 0);
  bench.run_until(420);
  bench.sent();
  bench.launch(440, {.grid = 3, .stream = 3});
  bench.run_until(1000);
  EXPECT_EQ(bench.sent().back(), "540 sm2 block 3.0") << "it was not queued";
}

TEST(Dispatcher, AQueuedLaunchThatComesLateBeginsAtOnce) {
  DispatcherBench bench({.launch_overlap = true});
  bench.launch(0, {.grid = 1});
  bench.run_until(150);
  bench.block_done(200, 1, 0, 0);
  bench.run_until(220);
  bench.sent();
  bench.launch(500, {.grid = 2, .queued = true});
  bench.run_until(1000);
  EXPECT_THAT(bench.sent(), ElementsAreArray({"500 sm1 start 2", "500 sm1 block 2.0"}));
}

TEST(Dispatcher, AGridIsDoneWhenStoresThatItsBlocksHaveLeftAreAcknowledged) {
  DispatcherBench bench;
  bench.launch(0, {.grid = 1, .blocks = 2});
  bench.run_until(150);
  bench.sent();
  bench.block_leaves_stores(200, 1, 0, 0);
  bench.block_leaves_stores(205, 1, 1, 1);
  bench.run_until(300);
  EXPECT_THAT(bench.sent(), IsEmpty());
  bench.save_and_restore();
  bench.stores_done(310, 1, 1);
  bench.run_until(320);
  EXPECT_THAT(bench.sent(), IsEmpty()) << "those of the other SM are missing";
  bench.stores_done(330, 1, 0);
  bench.run_until(400);
  EXPECT_THAT(bench.sent(), testing::Contains(HasSubstr("done 1")));
  EXPECT_TRUE(bench.dispatcher().finished());
}

TEST(Dispatcher, ABlockThatHasLeftStoresMakesRoomAtOnce) {
  DispatcherBench bench;
  bench.launch(0, {.grid = 1, .blocks = 200});
  bench.run_until(1000);
  const auto before = bench.sent().size();
  bench.block_leaves_stores(1100, 1, 0, 0);
  bench.run_until(1200);
  EXPECT_GT(before, 4u);
  EXPECT_EQ(bench.blocks().find("sm0:1."), 0u);
}

TEST(Dispatcher, BlocksGoToSmAfterSmAtTheBlockInterval) {
  DispatcherBench bench;
  bench.launch(0, {.grid = 1, .blocks = 6});
  bench.run_until(1000);
  EXPECT_THAT(bench.sent(),
              ElementsAreArray({"100 sm0 start 1", "100 sm0 block 1.0", "102 sm1 start 1",
                                "102 sm1 block 1.1", "104 sm2 start 1", "104 sm2 block 1.2",
                                "106 sm3 start 1", "106 sm3 block 1.3", "108 sm0 block 1.4",
                                "110 sm1 block 1.5"}));
}

TEST(Dispatcher, NextGridGoesOnWithTheNextSm) {
  DispatcherBench bench;
  bench.launch(0, {.grid = 1, .blocks = 3});
  bench.run_until(150);
  for (const std::uint32_t sm : {0u, 1u, 2u}) bench.block_done(200, 1, sm, sm);
  bench.launch(201, {.grid = 2, .blocks = 2});
  bench.sent();
  bench.run_until(1000);
  EXPECT_EQ(bench.blocks(), "sm3:2.0 sm0:2.1");
}

TEST(Dispatcher, ClustersTakeTurnsWithinTheBlockInterval) {
  // Four clusters, a block in seven cycles each: one is due every 1.75 cycles, and leaves at the
  // next whole one.
  DispatcherBench bench({.block_interval = Cycles{7}, .clusters = 4});
  bench.launch(0, {.grid = 1, .blocks = 8});
  bench.run_until(105);
  bench.save_and_restore();
  bench.run_until(200);
  std::vector<std::string> blocks = bench.sent();
  std::erase_if(blocks, [](const std::string& sent) { return sent.find("block") == sent.npos; });
  EXPECT_THAT(blocks,
              ElementsAreArray({"100 sm0 block 1.0", "102 sm1 block 1.1", "104 sm2 block 1.2",
                                "106 sm3 block 1.3", "107 sm0 block 1.4", "109 sm1 block 1.5",
                                "111 sm2 block 1.6", "113 sm3 block 1.7"}));
}

TEST(Dispatcher, OneBlockPerSmIsStagedWhenAllAreFull) {
  DispatcherBench bench({.sms = 2});
  bench.launch(0, {.grid = 1, .blocks = 20});
  bench.run_until(1000);
  // Two run and one waits in each.
  EXPECT_EQ(bench.blocks(), "sm0:1.0 sm1:1.1 sm0:1.2 sm1:1.3 sm0:1.4 sm1:1.5");
  EXPECT_EQ(bench.dispatcher().next_activity(), Time::never());
}

TEST(Dispatcher, AllOfManySmsGetTheirBlocksInTurn) {
  constexpr std::uint32_t sms = 130;
  DispatcherBench bench({.sms = sms});
  bench.launch(0, {.grid = 1, .blocks = 4 * sms});
  bench.run_until(5000);
  std::string expected;
  // Two run and one waits in each.
  for (std::uint32_t block = 0; block < 3 * sms; ++block)
    expected +=
        (block == 0 ? "sm" : " sm") + std::to_string(block % sms) + ":1." + std::to_string(block);
  EXPECT_EQ(bench.blocks(), expected);
  // Only the two at which a block ends, in turn from where the last one went.
  bench.block_done(6000, 1, 127, 127);
  bench.block_done(6000, 1, 64, 64);
  bench.run_until(7000);
  EXPECT_EQ(bench.blocks(), "sm64:1.390 sm127:1.391");
}

TEST(Dispatcher, FinishedBlockMakesRoomForAnotherStagedOne) {
  DispatcherBench bench({.sms = 2});
  bench.launch(0, {.grid = 1, .blocks = 20});
  bench.run_until(1000);
  bench.sent();
  bench.block_done(1200.3, 1, 1, 1);
  bench.run_until(2000);
  EXPECT_THAT(bench.sent(), ElementsAreArray({"1201 sm1 block 1.6"}));
}

TEST(Dispatcher, StagedBlockStartsOnlyWhenItFits) {
  // Two small blocks run and a wide one is staged: it needs both places.
  DispatcherBench bench({.sms = 1, .sharing = "spatial", .sms_per_tenant = {0}});
  bench.launch(0, {.grid = 1, .blocks = 2});
  bench.launch(0, {.grid = 2, .blocks = 3, .kernel = 1});
  bench.run_until(1000);
  EXPECT_EQ(bench.blocks(), "sm0:1.0 sm0:1.1 sm0:2.0");
  bench.block_done(1100, 1, 0, 0);
  bench.run_until(1200);
  EXPECT_EQ(bench.blocks(), "");
  bench.block_done(1300, 1, 0, 1);
  bench.run_until(1400);
  EXPECT_EQ(bench.blocks(), "sm0:2.1");
}

TEST(Dispatcher, RegistersThatALaunchStatesDecideHowManyBlocksFit) {
  // A small block states the registers of a wide one, and the other way round; one more is staged.
  DispatcherBench wide({.sms = 1}), narrow({.sms = 1});
  wide.launch(0, {.grid = 1, .blocks = 5, .registers = 64});
  narrow.launch(0, {.grid = 1, .blocks = 5, .kernel = 1, .registers = 32});
  wide.run_until(1000);
  narrow.run_until(1000);
  EXPECT_EQ(wide.blocks(), "sm0:1.0 sm0:1.1");
  EXPECT_EQ(narrow.blocks(), "sm0:1.0 sm0:1.1 sm0:1.2");
}

TEST(Dispatcher, GridIsDoneWithItsLastBlock) {
  DispatcherBench bench;
  bench.launch(0, {.grid = 3, .blocks = 2});
  bench.run_until(300);
  bench.sent();
  bench.block_done(300.5, 3, 1, 1);
  bench.run_until(400);
  EXPECT_THAT(bench.sent(), IsEmpty());
  EXPECT_FALSE(bench.dispatcher().finished());
  bench.block_done(400.25, 3, 0, 0);
  bench.run_until(500);
  EXPECT_THAT(bench.sent(),
              ElementsAreArray({"400.25 host done 3", "400.25 sm0 end 3", "400.25 sm1 end 3"}));
  EXPECT_TRUE(bench.dispatcher().finished());
}

TEST(Dispatcher, GridIsDoneWithTheInstructionsOfItsBlocks) {
  DispatcherBench bench;
  bench.launch(0, {.grid = 3, .blocks = 2});
  bench.run_until(300);
  bench.sent();
  bench.block_done(300, 3, 1, 1, {10, 320});
  bench.block_done(310, 3, 0, 0, {7, 70});
  bench.run_until(400);
  EXPECT_THAT(bench.sent(), testing::Contains("310 host done 3 17/390"));
}

TEST(Dispatcher, HostHearsOnceWithTheBlockThatReachesTheInstructionsOfATenant) {
  DispatcherBench bench({.instructions = {0, 20}});
  bench.launch(0, {.grid = 1, .blocks = 2, .tenant = 1});
  bench.launch(0, {.grid = 2, .blocks = 2, .tenant = 1});
  bench.run_until(300);
  bench.block_done(300, 1, 0, 0, {10, 320});
  bench.block_done(301, 1, 1, 1, {9, 100});
  bench.run_until(310);
  bench.sent();
  bench.block_done(311, 2, 2, 0, {5, 50});
  bench.block_done(312, 2, 3, 1, {20, 50});
  bench.run_until(400);
  EXPECT_THAT(bench.sent(), ElementsAreArray({"311 host tenant 1 24/470", "312 host done 2 25/100",
                                              "312 sm2 end 2", "312 sm3 end 2"}));
}

TEST(Dispatcher, InstructionsOfAnotherTenantDoNotCount) {
  DispatcherBench bench({.sharing = "spatial", .instructions = {0, 20}});
  bench.launch(0, {.grid = 1, .blocks = 2, .tenant = 0});
  bench.launch(0, {.grid = 2, .blocks = 2, .tenant = 1});
  bench.run_until(300);
  bench.sent();
  bench.block_done(300, 1, 0, 0, {100, 100});
  bench.block_done(301, 2, 2, 0, {19, 19});
  bench.run_until(400);
  EXPECT_THAT(bench.sent(), IsEmpty());
}

TEST(Dispatcher, BlockThatFitsNoSmIsAnError) {
  DispatcherBench bench;
  bench.launch(0, {.grid = 1, .kernel = 2});
  EXPECT_THAT(message_of([&] { bench.run_until(10); }),
              HasSubstr("kernel huge: a block needs 5120 registers, an SM has 2048"));
}

TEST(Dispatcher, HorizonsInBetweenChangeNothing) {
  const auto sent = [](double step) {
    DispatcherBench bench;
    bench.launch(0, {.grid = 1, .blocks = 9});
    bench.block_done(150.5, 1, 2, 2);
    for (double end = 160; end < 400; end += step) bench.run_until(end);
    return bench.sent();
  };
  EXPECT_EQ(sent(1), sent(240));
}

TEST(Dispatcher, RestoredDispatcherGoesOnWhereTheSavedOneStood) {
  const auto sent = [](bool restore) {
    DispatcherBench bench({.sms = 2, .sharing = "spatial", .sms_per_tenant = {1, 1}});
    bench.launch(0, {.grid = 1, .blocks = 9});
    bench.launch(3, {.grid = 2, .blocks = 5, .tenant = 1});
    bench.run_until(105);
    if (restore) bench.save_and_restore();
    bench.run_until(300);
    bench.block_done(301, 1, 0, 0);
    bench.block_done(302, 2, 1, 0);
    bench.block_done(302, 2, 1, 1);
    bench.run_until(302.5);
    if (restore) bench.save_and_restore();
    bench.run_until(500);
    return bench.sent();
  };
  EXPECT_EQ(sent(true), sent(false));
  EXPECT_GE(sent(true).size(), 8u);
}

TEST(Dispatcher, AbortedTenantIsForwardedBehindItsBlocks) {
  DispatcherBench bench({.sms = 1});
  bench.launch(0, {.grid = 1, .blocks = 9});
  bench.run_until(101);
  bench.abort_tenant(101, 0);
  bench.run_until(1000);
  EXPECT_THAT(bench.sent(),
              ElementsAreArray({"100 sm0 start 1", "100 sm0 block 1.0", "101 sm0 abort 0"}));
  bench.block_done(1000, 1, 0, 0);
  bench.run_until(2000);
  EXPECT_THAT(bench.sent(), ElementsAreArray({"1000 host done 1", "1000 sm0 end 1"}));
  EXPECT_TRUE(bench.dispatcher().finished());
}

TEST(Dispatcher, GridsOfAnAbortedTenantThatNeverRanAreDoneAtOnce) {
  DispatcherBench bench({.sms = 1});
  bench.launch(0, {.grid = 1, .blocks = 1, .tenant = 1});
  bench.launch(0, {.grid = 2, .blocks = 1, .tenant = 0});
  bench.abort_tenant(50, 1);
  bench.run_until(1000);
  EXPECT_THAT(bench.sent(), ElementsAreArray({"50 host done 1", "50 sm0 abort 1", "100 sm0 start 2",
                                              "100 sm0 block 2.0"}));
}

TEST(Dispatcher, DroppedStagedBlockLeavesThePlacesOfRunningOnesAlone) {
  DispatcherBench bench({.sms = 1});
  bench.launch(0, {.grid = 1, .blocks = 3});
  bench.run_until(200);
  EXPECT_EQ(bench.blocks(), "sm0:1.0 sm0:1.1 sm0:1.2");
  bench.abort_tenant(200, 0);
  for (const std::uint64_t block : {2u, 0u, 1u}) bench.block_done(300, 1, 0, block);
  bench.launch(310, {.grid = 3, .blocks = 9, .tenant = 1});
  bench.run_until(700);
  EXPECT_EQ(bench.blocks(), "sm0:3.0 sm0:3.1 sm0:3.2") << "two run, one is staged";
}

TEST(Dispatcher, GoesOnAfterARestoreBetweenAbortAndTheLastBlock) {
  DispatcherBench bench({.sms = 1});
  bench.launch(0, {.grid = 1, .blocks = 9});
  bench.run_until(200);
  bench.abort_tenant(200, 0);
  bench.run_until(300);
  bench.save_and_restore();
  bench.sent();
  for (const std::uint64_t block : {2u, 0u, 1u}) bench.block_done(400, 1, 0, block);
  bench.run_until(500);
  EXPECT_THAT(bench.sent(), ElementsAreArray({"400 host done 1", "400 sm0 end 1"}));
}

}  // namespace
}  // namespace lockstep::dispatcher_test
