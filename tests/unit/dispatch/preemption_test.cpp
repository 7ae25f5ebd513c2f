/// The dispatcher takes SMs from a grid for a more urgent one, and gives them back.
/// Source: 002, section II; preemption.md, section 2.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/dispatch/preemption_bench.hpp"

namespace lockstep::preemption_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using PreemptionTest = PreemptionBench;

TEST_F(PreemptionTest, WithoutOneTheUrgentGridWaitsForTheEndOfTheOther) {
  use("none", 4);
  urgent(200, 1);
  bench->run_until(400);
  EXPECT_THAT(sent(), IsEmpty());
  for (std::uint64_t block = 0; block < 4; ++block)
    bench->block_done(410 + block, 1, static_cast<std::uint32_t>(block % 2), block);
  bench->run_until(500);
  EXPECT_THAT(bench->blocks(), ::testing::HasSubstr("2.0"));
}

TEST_F(PreemptionTest, AnUrgentGridTakesAsManySmsAsItsBlocksFill) {
  for (const auto& [blocks, sms] : {std::pair{1u, 1u}, {2u, 1u}, {3u, 2u}, {9u, 2u}}) {
    SCOPED_TRACE(blocks);
    use("drain");
    urgent(200, blocks);
    bench->run_until(400);
    EXPECT_EQ(sent().size(), sms);
  }
}

TEST_F(PreemptionTest, AnSmThatIsDrainedGoesToTheUrgentGridWhenItSaysSo) {
  use("drain");
  urgent(200, 2);
  bench->run_until(400);
  EXPECT_THAT(sent(), ElementsAre("sm0 drain 1"));
  bench->block(410, MessageKind::block_returned, 1, 0, 4);
  bench->block_done(420, 1, 0, 0);
  bench->run_until(430);
  EXPECT_THAT(sent(), IsEmpty()) << "another block still runs there";
  bench->block_done(440, 1, 0, 2);
  bench->grid_stopped(440, 1, 0);
  bench->run_until(500);
  EXPECT_EQ(bench->blocks(), "sm0:2.0 sm0:2.1");
}

TEST_F(PreemptionTest, ABlockThatWasStagedGoesOutAgainFirst) {
  use("drain", 9);
  urgent(200, 2);
  bench->block(410, MessageKind::block_returned, 1, 0, 4);
  bench->block_done(420, 1, 0, 0);
  bench->block_done(420, 1, 0, 2);
  bench->grid_stopped(420, 1, 0);
  bench->block_done(430, 1, 1, 1);  // 5 starts in its place
  bench->run_until(500);
  EXPECT_EQ(bench->blocks(), "sm0:2.0 sm0:2.1") << "not behind 5, which may wait for it";
  bench->block_done(500, 1, 1, 3);
  bench->run_until(600);
  EXPECT_EQ(bench->blocks(), "sm1:1.4 sm1:1.6");
}

TEST_F(PreemptionTest, BlocksThatWereStagedGoOutInTheirOrder) {
  use("drain", 6);
  urgent(200, 4);
  for (const std::uint64_t block : {5, 4})
    bench->block(410 + (5 - block), MessageKind::block_returned, 1,
                 static_cast<std::uint32_t>(block % 2), block);
  for (const std::uint32_t sm : {0, 1}) {
    for (const std::uint64_t block : {sm, sm + 2}) bench->block_done(420, 1, sm, block);
    bench->grid_stopped(420, 1, sm);
  }
  bench->run_until(500);
  EXPECT_EQ(bench->blocks(), "sm0:2.0 sm1:2.1 sm0:2.2 sm1:2.3");
  for (const std::uint64_t block : {0, 1, 2, 3})
    bench->block_done(500, 2, static_cast<std::uint32_t>(block % 2), block);
  bench->run_until(600);
  EXPECT_EQ(bench->blocks(), "sm0:1.4 sm1:1.5");
}

TEST_F(PreemptionTest, SavedBlocksReturnBeforeOthersStartWhenTheUrgentGridHasLeft) {
  use("switch");
  urgent(200, 2);
  bench->run_until(400);
  EXPECT_THAT(sent(), ElementsAre("sm0 save 1"));
  bench->block(410, MessageKind::block_returned, 1, 0, 4);
  bench->block(420, MessageKind::block_saved, 1, 0, 0);
  bench->block(430, MessageKind::block_saved, 1, 0, 2);
  bench->grid_stopped(430, 1, 0);
  bench->run_until(500);
  EXPECT_EQ(bench->blocks(), "sm0:2.0 sm0:2.1");
  bench->block_done(510, 2, 0, 0);
  bench->block_done(510, 2, 0, 1);
  bench->run_until(600);
  EXPECT_THAT(sent(), ElementsAre("host done 2", "sm0 end 2", "sm0 resume 1"));
  bench->block(610, MessageKind::block_restored, 1, 0, 0);
  bench->run_until(650);
  EXPECT_THAT(sent(), IsEmpty()) << "one is still to return";
  bench->block(660, MessageKind::block_restored, 1, 0, 2);
  bench->run_until(700);
  EXPECT_THAT(sent(), ElementsAre("sm0 block 1.4")) << "staged";
}

TEST_F(PreemptionTest, AnSmTakenAgainBeforeItsBlocksHaveReturnedGoesToTheUrgentGridAgain) {
  use("switch", 4);
  urgent(200, 2);
  for (const std::uint64_t block : {0, 2}) bench->block(420, MessageKind::block_saved, 1, 0, block);
  bench->grid_stopped(420, 1, 0);
  bench->run_until(500);
  bench->block_done(510, 2, 0, 0);
  bench->block_done(510, 2, 0, 1);
  bench->run_until(520);
  bench->sent();
  urgent(430 + 100, 2, 3);
  bench->run_until(700);
  EXPECT_THAT(sent(), ElementsAre("sm0 save 1"));
  bench->grid_stopped(710, 1, 0);  // none had begun to return
  bench->run_until(800);
  EXPECT_EQ(bench->blocks(), "sm0:3.0 sm0:3.1");
}

TEST_F(PreemptionTest, AGridIsNotTakenFromByOneOfTheSamePriority) {
  use("drain");
  bench->launch(200, {.grid = 2, .blocks = 2, .tenant = 1});
  bench->run_until(400);
  EXPECT_THAT(sent(), IsEmpty());
}

TEST_F(PreemptionTest, ATenantThatEndsWhileItsBlocksMakeRoomIsDone) {
  use("switch");
  urgent(200, 2);
  bench->block(410, MessageKind::block_returned, 1, 0, 4);
  bench->block(420, MessageKind::block_saved, 1, 0, 0);
  bench->run_until(430);
  bench->abort_tenant(440, 0);
  bench->block(450, MessageKind::block_restored, 1, 0, 0);
  for (const std::uint64_t block : {0, 2}) bench->block_done(450, 1, 0, block);
  bench->grid_stopped(450, 1, 0);
  for (const std::uint64_t block : {1, 3, 5}) bench->block_done(460, 1, 1, block);
  bench->run_until(600);
  EXPECT_THAT(sent(), ::testing::Contains("host done 1"));
}

TEST_F(PreemptionTest, BlocksThatAreFlushedGoOutAgainBeforeOthers) {
  use("flush", 9);
  urgent(200, 2);
  bench->run_until(400);
  EXPECT_THAT(sent(), ElementsAre("sm0 flush 1"));
  bench->block(410, MessageKind::block_returned, 1, 0, 4);
  bench->block_flushed(420, 1, 0, 0, {10, 320}, {10, 320});
  bench->block_flushed(420, 1, 0, 2, {10, 320}, {10, 320});
  bench->grid_stopped(420, 1, 0);
  bench->block_done(430, 1, 1, 1);
  bench->block_done(430, 1, 1, 3);
  bench->run_until(500);
  EXPECT_EQ(bench->blocks(), "sm0:2.0 sm0:2.1 sm1:1.0") << "2 is not staged behind others";
}

TEST_F(PreemptionTest, WhatAFlushedBlockHasExecutedDoesNotCount) {
  use("flush", 2);
  urgent(200, 2);
  bench->block_done(410, 1, 0, 0, {5, 160});
  bench->block_flushed(420, 1, 1, 1, {3, 96}, {7, 224});  // four of them were told with block 0
  bench->grid_stopped(420, 1, 0);
  bench->run_until(430);
  bench->block_done(900, 1, 1, 1, {8, 256});
  bench->run_until(1000);
  EXPECT_THAT(sent(), ::testing::Contains("host done 1 9/288"));
}

/// Two SMs, whose blocks are asked for.
class ChimeraTest : public PreemptionTest {
 protected:
  void ask(std::uint32_t urgent_blocks, Time bound) {
    BenchOptions options;
    options.sms = 2;
    options.preemption = technique;
    options.latency_bounds[1] = bound;
    bench.emplace(options);
    bench->launch(0, {.grid = 1, .blocks = 20});
    for (std::uint32_t block = 0; block < 4; ++block) {
      bench->block_done(200, 1, block % 2, block, {}, {{1000, 32000}, 2000});
      if (block < 2 && technique.find("dual") != technique.npos)
        bench->started(200, 1, block % 2, block + 4, {});
    }
    bench->run_until(300);
    sent();
    urgent(300, urgent_blocks);
    bench->run_until(500);
  }
  std::string technique = "chimera";
  static BlockStatus block(std::uint64_t number, std::uint64_t executed, bool idempotent) {
    return {number, {{executed, 32 * executed}, 2 * executed}, idempotent, 0, {}};
  }
};

TEST_F(ChimeraTest, AsksAllSmsAtOnceAndTakesTheOneThatLosesLeast) {
  ask(1, Time{1'000'000'000});
  EXPECT_THAT(sent(), ElementsAre("sm0 ask 1", "sm1 ask 1"));
  bench->status(510, 1, 0, {block(4, 500, true), block(6, 300, true)});
  bench->run_until(520);
  EXPECT_THAT(sent(), IsEmpty()) << "the other has not answered";
  bench->status(520, 1, 1, {block(5, 900, true), block(7, 950, false)});
  bench->run_until(600);
  EXPECT_THAT(sent(), ElementsAre("sm1 flush 1 d5 d7")) << "both are nearly done";
}

/// 409.6 ns at 10 GB/s, until one of 1024 bytes has been saved: 102.4 ns.
TEST_F(ChimeraTest, ASwitchIsExpectedToTakeWhatContextsHaveTaken) {
  technique = "{name: chimera, context: live}";
  for (const bool known : {false, true}) {
    ask(1, Time{200'000'000});
    sent();
    if (known) {
      bench->block(505, MessageKind::block_saved, 1, 1, 5);
      bench->block(506, MessageKind::block_restored, 1, 1, 5);
    }
    bench->status(510, 1, 0, {block(4, 500, true)});
    bench->status(510, 1, 1, {block(5, 700, true)});
    bench->run_until(520);
    EXPECT_THAT(sent(), ::testing::Contains(known ? "sm0 flush 1 s4" : "sm0 flush 1 f4"));
  }
}

/// Four blocks of the kernel are done, in an earlier launch: 1000 instructions of 2 ns.
TEST_F(ChimeraTest, DrainsAreEstimatedByFinishedBlocksOfTheLaunchOrOfTheKernel) {
  for (const std::string estimate : {"launch", "kernel", "launch, drain_estimate: quantile",
                                     "kernel, drain_estimate: quantile"}) {
    BenchOptions options;
    options.sms = 2;
    options.preemption = "{name: chimera, history: " + estimate + "}";
    options.latency_bounds[1] = Time{1'000'000'000};
    bench.emplace(options);
    bench->launch(0, {.grid = 1, .blocks = 4});
    bench->launch(10, {.grid = 3, .blocks = 4});
    for (std::uint32_t done = 0; done < 4; ++done)
      bench->block_done(200, 1, done % 2, done, {}, {{1000, 32000}, 2000});
    urgent(300, 1);
    bench->run_until(500);
    sent();
    bench->status(510, 3, 0, {block(0, 900, true), block(2, 900, true)});
    bench->status(510, 3, 1, {block(1, 600, true), block(3, 600, true)});
    bench->run_until(520);
    EXPECT_THAT(sent(), ElementsAre(estimate.starts_with("kernel") ? "sm0 flush 3 d0 d2"
                                                                   : "sm0 flush 3 s0 s2"));
  }
}

TEST_F(ChimeraTest, TakesTheFastestIfNoneIsFastEnough) {
  ask(1, Time{1'000'000});
  sent();
  bench->status(510, 1, 0, {block(4, 900, false)});
  bench->status(510, 1, 1, {block(5, 999, false)});
  bench->run_until(520);
  EXPECT_THAT(sent(), ElementsAre("sm1 flush 1 d5")) << "1 instruction of 2 ns is left";
}

TEST_F(ChimeraTest, TellsWhatWasExpectedAndWhatBecameOfIt) {
  ask(1, Time{1'000'000'000});
  bench->status(510, 1, 0, {block(4, 20, true), block(6, 0, true)});
  bench->status(510, 1, 1, {block(5, 900, true), block(7, 600, true)});
  bench->run_until(520);
  bench->block_flushed(600, 1, 0, 4, {}, {25, 800});
  bench->run_until(610);
  ASSERT_EQ(bench->dispatcher().preemptions().size(), 1u);
  const PreemptionRecord& record = bench->dispatcher().preemptions()[0];
  EXPECT_EQ(record.block.block, 4u);
  EXPECT_EQ(record.technique, Technique::flush);
  EXPECT_EQ(record.expected, Time::zero());
  EXPECT_EQ(record.expected_loss, 20u);
  EXPECT_EQ(record.lost, 25u);
  EXPECT_EQ(record.bound, Time{1'000'000'000});
  EXPECT_GT(record.released, record.asked);
}

TEST_F(ChimeraTest, ADrainThatTakesTenTimesAsLongBecomesASwitch) {
  ask(1, Time{1'000'000'000});
  sent();
  bench->status(510, 1, 0, {block(4, 900, false)});
  bench->status(510, 1, 1, {block(5, 900, true), block(7, 600, true)});
  bench->run_until(600);
  EXPECT_THAT(sent(), ElementsAre("sm0 flush 1 d4"));
  bench->run_until(10'400);
  EXPECT_THAT(sent(), IsEmpty());
  bench->run_until(10'600);
  EXPECT_THAT(sent(), ElementsAre("sm0 save 1"));
}

TEST_F(ChimeraTest, GoesOnAfterSavingAndRestoringBetweenQuestionAndAnswer) {
  ask(1, Time{1'000'000'000});
  sent();
  bench->status(510, 1, 0, {block(4, 400, false)});
  bench->run_until(515);
  bench->save_and_restore();
  bench->status(520, 1, 1, {block(5, 10, true)});
  bench->run_until(530);
  bench->save_and_restore();
  EXPECT_THAT(sent(), ElementsAre("sm1 flush 1 f5"));
  bench->block_flushed(600, 1, 1, 5, {}, {25, 800});
  bench->run_until(610);
  ASSERT_EQ(bench->dispatcher().preemptions().size(), 1u);
  EXPECT_EQ(bench->dispatcher().preemptions()[0].expected_loss, 10u);
}

/// The same, with room for two blocks per SM and places that are shared.
class DualKernelTest : public ChimeraTest {
 protected:
  DualKernelTest() { technique = "dual-kernel"; }
};

TEST_F(DualKernelTest, AnUrgentBlockEntersWhenItsPlaceIsFreeWhileTheBlockBesideItRunsOn) {
  ask(1, Time{1'000'000'000});
  EXPECT_THAT(sent(), ElementsAre("sm0 ask 1", "sm1 ask 1"));
  bench->status(510, 1, 0, {block(4, 500, true), block(6, 300, true)});
  bench->status(510, 1, 1, {block(5, 900, true), block(7, 20, true)});
  bench->run_until(520);
  EXPECT_THAT(sent(), ElementsAre("sm0 drain 1 d4")) << "within 1 us, and nothing is lost";
  bench->block(560, MessageKind::block_returned, 1, 0, 8);
  bench->block_done(900, 1, 0, 4, {}, {{1000, 32000}, 2000});
  bench->run_until(1000);
  EXPECT_EQ(bench->blocks(), "sm0:2.0") << "6 is still there";
  bench->block_done(1100, 2, 0, 0);
  bench->run_until(1200);
  EXPECT_THAT(sent(), ElementsAre("host done 2", "sm0 end 2", "sm0 resume 1", "sm0 block 1.8",
                                  "sm0 block 1.10"))
      << "the second one is staged";
}

TEST_F(DualKernelTest, BySerialRoundsTheNextPlaceIsAskedForWhenTheLastIsFree) {
  technique = "{name: dual-kernel, rounds: serial}";
  ask(3, Time{500'000'000});
  EXPECT_THAT(sent(), ElementsAre("sm0 ask 1", "sm1 ask 1"));
  bench->status(510, 1, 0, {block(4, 20, true), block(6, 30, true)});
  bench->status(510, 1, 1, {block(5, 10, true), block(7, 40, true)});
  bench->run_until(520);
  EXPECT_THAT(sent(), ElementsAre("sm0 drain 1 f4", "sm1 drain 1 f5")) << "one of each";
  for (const std::uint64_t staged : {8, 9})
    bench->block(530, MessageKind::block_returned, 1, static_cast<std::uint32_t>(staged % 2),
                 staged);
  bench->block_flushed(540, 1, 0, 4, {}, {20, 640});
  bench->run_until(550);
  EXPECT_THAT(sent(), ElementsAre("sm0 block 2.0", "sm0 ask 1")) << "sm1 has not let go yet";
  bench->block_flushed(560, 1, 1, 5, {}, {10, 320});
  bench->run_until(570);
  EXPECT_THAT(sent(), ElementsAre("sm1 block 2.1"));
  bench->status(600, 1, 0, {block(6, 900, true)});
  bench->run_until(610);
  EXPECT_THAT(sent(), ElementsAre("sm0 drain 1 d6")) << "200 ns are left of it, and of the bound";
}

TEST_F(DualKernelTest, ADrainMayTakeAsLongAsTheKeySays) {
  technique = "{name: dual-kernel, drain_limit: 2us}";
  ask(1, Time{1'000'000'000});
  sent();
  bench->status(510, 1, 0, {block(4, 900, false)});
  bench->status(510, 1, 1, {block(5, 900, true), block(7, 600, true)});
  bench->run_until(2400);
  sent();
  bench->run_until(2600);
  EXPECT_THAT(sent(), ElementsAre("sm0 drain 1 s4"));
}

TEST_F(DualKernelTest, RegistersInUseAreCountedUntilThePlaceIsTaken) {
  ask(1, Time{1'000'000'000});
  bench->status(510, 1, 0, {block(4, 500, true), block(6, 300, true)});
  bench->status(510, 1, 1, {block(5, 900, true), block(7, 20, true)});
  const auto counts = [&] {
    const StatisticsView view = bench->dispatcher().statistics(Time::zero());
    const auto& all = *static_cast<const DispatchStatistics*>(view.values);
    return std::pair(all.takeover_time[1].value(), all.takeover_registers[1].value());
  };
  bench->block_done(900, 1, 0, 4, {}, {{1000, 32000}, 2000});
  bench->run_until(1000);
  const auto [time, registers] = counts();
  EXPECT_EQ(time, 500u) << "400 to 900";
  EXPECT_GT(registers, 0u);
  EXPECT_EQ(registers % (2 * time), 0u) << "of two blocks, all the time";
}

TEST_F(DualKernelTest, TheSmBelongsToTheUrgentGridWhenTheOthersHaveLeft) {
  ask(3, Time{1'000'000'000});
  sent();
  bench->status(510, 1, 0, {block(4, 20, true), block(6, 30, true)});
  bench->status(510, 1, 1, {block(5, 10, true), block(7, 40, true)});
  bench->run_until(520);
  EXPECT_THAT(sent(), ElementsAre("sm0 drain 1 f4 f6", "sm1 drain 1 f5"));
  for (const std::uint64_t staged : {8, 9})
    bench->block(530, MessageKind::block_returned, 1, static_cast<std::uint32_t>(staged % 2),
                 staged);
  bench->block_flushed(540, 1, 0, 4, {}, {20, 640});
  bench->block_flushed(541, 1, 0, 6, {}, {30, 960});
  bench->grid_stopped(541, 1, 0);
  bench->block_flushed(542, 1, 1, 5, {}, {10, 320});
  bench->run_until(600);
  EXPECT_EQ(bench->blocks(), "sm0:2.0 sm1:2.1 sm0:2.2");
  for (const std::uint64_t done : {0, 2}) bench->block_done(700, 2, 0, done);
  bench->run_until(800);
  EXPECT_EQ(bench->blocks(), "sm0:1.4 sm0:1.5") << "as a whole; 6 is not staged behind others";
}

TEST_F(PreemptionTest, GoesOnAfterSavingAndRestoring) {
  use("switch");
  urgent(200, 2);
  bench->run_until(400);
  bench->save_and_restore();
  EXPECT_THAT(sent(), ElementsAre("sm0 save 1"));
  bench->block(410, MessageKind::block_returned, 1, 0, 4);
  for (const std::uint64_t block : {0, 2}) bench->block(420, MessageKind::block_saved, 1, 0, block);
  bench->grid_stopped(430, 1, 0);
  bench->run_until(440);
  bench->save_and_restore();
  bench->run_until(500);
  EXPECT_EQ(bench->blocks(), "sm0:2.0 sm0:2.1");
}

}  // namespace
}  // namespace lockstep::preemption_test
