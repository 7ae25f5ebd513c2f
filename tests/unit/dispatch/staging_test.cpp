/// No block waits behind those of its own grid while places for it are about to come elsewhere: it
/// would have one sooner there, and who runs in front of it may wait for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/policy_variants.hpp"
#include "tests/unit/dispatch/preemption_bench.hpp"

namespace lockstep::staging_test {
namespace {

/// Two SMs with room for two blocks each; both make room for grid 2, SM 0 first.
class StagedUrgentBlocks : public PreemptionBench,
                           public ::testing::WithParamInterface<std::string> {
 protected:
  std::string blocks_when_sm_is_free(double at, std::uint32_t sm) {
    for (const std::uint64_t block : {sm, sm + 2u}) leave(at, sm, block);
    bench->grid_stopped(at, 1, sm);
    bench->run_until(at + 50);
    return bench->blocks();
  }
  void leave(double at, std::uint32_t sm, std::uint64_t block) {
    if (GetParam() == "switch") return bench->block(at, MessageKind::block_saved, 1, sm, block);
    if (GetParam() == "flush") return bench->block_flushed(at, 1, sm, block, {}, {});
    bench->block_done(at, 1, sm, block);
  }
  void urgent_comes(std::uint32_t blocks) {
    use(GetParam(), 4);
    urgent(200, blocks);
    bench->run_until(400);
    bench->sent();
  }
};

TEST_P(StagedUrgentBlocks, WaitForAnSmThatStillMakesRoom) {
  for (const std::uint32_t blocks : {3u, 4u}) {
    SCOPED_TRACE(blocks);
    urgent_comes(blocks);
    EXPECT_EQ(blocks_when_sm_is_free(410, 0), "sm0:2.0 sm0:2.1");
    EXPECT_EQ(blocks_when_sm_is_free(510, 1), blocks == 3 ? "sm1:2.2" : "sm1:2.2 sm1:2.3");
  }
}

TEST_P(StagedUrgentBlocks, AreThoseForWhichNoPlaceComes) {
  urgent_comes(5);
  EXPECT_EQ(blocks_when_sm_is_free(410, 0), "sm0:2.0 sm0:2.1 sm0:2.2") << "the third is staged";
  EXPECT_EQ(blocks_when_sm_is_free(510, 1), "sm1:2.3 sm1:2.4");
}

INSTANTIATE_TEST_SUITE_P(ByTechnique, StagedUrgentBlocks,
                         ::testing::Values("drain", "switch", "flush"),
                         [](const auto& test) { return variant_name(test.param); });

using StagedBlocks = PreemptionBench;

/// SM 0 goes back to grid 1, whose flushed blocks return there; SM 1 is grid 2's.
TEST_F(StagedBlocks, OfAGridThatLacksAnSmLeftAloneForAWhileGoThereLater) {
  use("{name: flush, drain_limit: 1us}", 4);
  urgent(200, 4);
  bench->run_until(400);
  bench->block_flushed(410, 1, 1, 1, {}, {});
  bench->block_flushed(410, 1, 1, 3, {}, {});
  bench->grid_stopped(410, 1, 1);
  bench->block_flushed(410, 1, 0, 0, {}, {});  // block 2 drains for too long
  bench->run_until(450);
  EXPECT_EQ(bench->blocks(), "sm1:2.0 sm1:2.1");
  bench->run_until(1450);
  EXPECT_THAT(sent(), ::testing::Contains("sm0 resume 1"));
  bench->run_until(4000);
  EXPECT_THAT(sent(), ::testing::Contains("sm0 flush 1"));
}

}  // namespace
}  // namespace lockstep::staging_test
