/// Blocks that drain may wait for flushed ones: those start again wherever nobody is in their way.
/// Source: preemption.md, errata of section 2.2.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/dispatch/preemption_bench.hpp"

namespace lockstep::flushed_blocks_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using FlushedBlocksTest = PreemptionBench;

TEST_F(FlushedBlocksTest, AnSmWhereBlocksWaitForFlushedOnesGoesBackForAWhile) {
  use("{name: flush, drain_limit: 1us}", 2);
  urgent(200, 6);
  bench->run_until(400);
  EXPECT_THAT(sent(), ElementsAre("sm0 flush 1", "sm1 flush 1"));
  bench->block_flushed(420, 1, 0, 0, {10, 320}, {10, 320});
  bench->grid_stopped(420, 1, 0);
  bench->run_until(1000);
  EXPECT_THAT(sent(), ElementsAre("sm0 block 2.0", "sm0 block 2.1", "sm0 block 2.2"))
      << "the third is staged, and block 1 drains";
  bench->run_until(1400);
  EXPECT_THAT(sent(), ElementsAre("sm1 resume 1", "sm1 block 1.0"));
  bench->run_until(2200);
  EXPECT_THAT(sent(), IsEmpty()) << "it is left alone for as long";
  bench->run_until(2400);
  EXPECT_THAT(sent(), ElementsAre("sm1 flush 1"));
}

TEST_F(FlushedBlocksTest, AnSmGoesOnDrainingWhileNobodyWaitsToStartAgain) {
  use("{name: flush, drain_limit: 1us}", 2);
  urgent(200, 4);
  bench->run_until(3000);
  EXPECT_THAT(sent(), ElementsAre("sm0 flush 1", "sm1 flush 1"));
}

TEST_F(FlushedBlocksTest, ABlockThatStartsAgainIsNotStagedBehindOthersThatMayWaitForIt) {
  use("flush", 4);
  urgent(200, 2);
  bench->run_until(400);
  EXPECT_THAT(sent(), ElementsAre("sm0 flush 1"));
  bench->block_flushed(420, 1, 0, 0, {10, 320}, {10, 320});
  bench->run_until(500);
  EXPECT_THAT(sent(), IsEmpty()) << "SM 1 is full";
}

}  // namespace
}  // namespace lockstep::flushed_blocks_test
