/// Blocks that need contiguous places: the dispatcher says which, and hears of those that have
/// waited at the SM.
/// Source: 003, section 3.2, Figure 3.2; preemption.md, section 6.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/dispatch/dispatcher_bench.hpp"

namespace lockstep::placement_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// An SM of 2048 registers with four blocks of 512, of which those in the middle have ended when
/// two blocks of 1024 of another kernel come.
class PlacementTest : public ::testing::Test {
 protected:
  void begin(Placement placement) {
    BenchOptions options;
    options.sms = 1;
    options.sharing = "smk";
    options.placement = placement;
    bench.emplace(options);
    bench->launch(0, {.grid = 1, .blocks = 4, .registers = 16});
    bench->run_until(150);
    const std::vector<std::string> sent = bench->sent();
    if (placement != Placement::summed) {
      EXPECT_THAT(
          sent, ElementsAre("100 sm0 start 1", "100 sm0 block 1.0 at 0", "102 sm0 block 1.1 at 512",
                            "104 sm0 block 1.2 at 1024", "106 sm0 block 1.3 at 1536"));
    }
    bench->block_done(150, 1, 0, 1);
    bench->block_done(150, 1, 0, 2);
    bench->launch(200, {.grid = 2, .blocks = 2, .tenant = 1, .registers = 32});
    bench->run_until(400);
  }
  std::optional<DispatcherBench> bench;
};

TEST_F(PlacementTest, PackedTheFirstTakesTheHoleAndKeepsTheSecondOut) {
  begin(Placement::packed);
  EXPECT_THAT(bench->sent(),
              ElementsAre("300 sm0 start 2", "300 sm0 block 2.0 at 512", "302 sm0 block 2.1"))
      << "the second is staged";
  bench->block_done(500, 1, 0, 0);
  bench->block_done(500, 1, 0, 3);
  bench->run_until(600);
  EXPECT_THAT(bench->sent(), ElementsAre("500 host done 1", "500 sm0 end 1"))
      << "half of the registers are free, and no place";
}

TEST_F(PlacementTest, AlignedBothFindTheirPlaces) {
  begin(Placement::aligned);
  EXPECT_THAT(bench->sent(), ElementsAre("300 sm0 start 2", "300 sm0 block 2.0")) << "staged";
  bench->block_done(500, 1, 0, 0);
  bench->started(500, 2, 0, 0, {0, 0});
  bench->run_until(600);
  EXPECT_THAT(bench->sent(), ElementsAre("500 sm0 block 2.1")) << "staged: there is a hole of 512";
  bench->block_done(700, 1, 0, 3);
  bench->started(700, 2, 0, 1, {1024, 0});
  bench->block_done(800, 2, 0, 0);
  bench->block_done(800, 2, 0, 1);
  bench->run_until(900);
  EXPECT_THAT(bench->sent(),
              ElementsAre("700 host done 1", "700 sm0 end 1", "800 host done 2", "800 sm0 end 2"));
}

TEST_F(PlacementTest, OfSumsTheSecondIsStagedUntilAnyTwoHaveEnded) {
  begin(Placement::summed);
  EXPECT_THAT(bench->sent(),
              ElementsAre("300 sm0 start 2", "300 sm0 block 2.0", "302 sm0 block 2.1"));
  bench->block_done(500, 1, 0, 0);
  bench->block_done(500, 1, 0, 3);
  bench->launch(500, {.grid = 3, .blocks = 1, .tenant = 1, .registers = 16});
  bench->run_until(700);
  EXPECT_THAT(bench->sent(), ElementsAre("500 host done 1", "500 sm0 end 1", "600 sm0 start 3",
                                         "600 sm0 block 3.0"))
      << "nothing is free: the staged block has started";
}

TEST_F(PlacementTest, GoesOnAfterSavingAndRestoring) {
  begin(Placement::aligned);
  bench->save_and_restore();
  bench->sent();
  bench->block_done(500, 1, 0, 0);
  bench->started(500, 2, 0, 0, {0, 0});
  bench->block_done(510, 1, 0, 3);
  bench->run_until(600);
  bench->sent();
  bench->started(600, 2, 0, 1, {1024, 0});
  bench->run_until(700);
  EXPECT_THAT(bench->sent(), IsEmpty());
}

}  // namespace
}  // namespace lockstep::placement_test
