/// Cooperative grids start when there are places for all of their blocks, and not before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/policy_variants.hpp"
#include "tests/unit/dispatch/dispatcher_bench.hpp"

namespace lockstep::gangs_test {
namespace {

constexpr std::uint16_t meeting = 3;

/// Two SMs with room for two blocks each.
class Gangs : public ::testing::Test {
 protected:
  void use(const std::string& sharing, const std::string& preemption = "none",
           std::uint32_t sms = 2) {
    BenchOptions options;
    options.sms = sms;
    options.sharing = sharing;
    options.preemption = preemption;
    options.latency_bounds = {Time::never(), Time::never(), Time::never()};
    options.instructions = {0, 0, 0};
    options.sms_per_tenant = {0, 0, 0};
    bench.emplace(options);
  }
  std::string blocks_until(double ns) {
    bench->run_until(ns);
    return bench->blocks();
  }
  void done(double at, std::uint32_t grid, std::initializer_list<std::uint64_t> blocks) {
    for (const std::uint64_t block : blocks)
      bench->block_done(at, grid, static_cast<std::uint32_t>(block % 2), block);
  }
  std::optional<DispatcherBench> bench;
};

TEST_F(Gangs, OfTwoTheSecondWaitsForAllOfItsPlaces) {
  use("smk");
  bench->launch(0, {.grid = 1, .blocks = 3, .kernel = meeting});
  bench->launch(0, {.grid = 2, .blocks = 3, .tenant = 1, .kernel = meeting});
  EXPECT_EQ(blocks_until(300), "sm0:1.0 sm1:1.1 sm0:1.2");
  done(300, 1, {0, 1});
  EXPECT_EQ(blocks_until(400), "sm1:2.0 sm0:2.1 sm1:2.2");
}

TEST_F(Gangs, WaitUntilThereIsRoomForTheLastBlock) {
  use("smk");
  bench->launch(0, {.grid = 1, .blocks = 2});
  bench->launch(0, {.grid = 2, .blocks = 4, .tenant = 1, .kernel = meeting});
  EXPECT_EQ(blocks_until(300), "sm0:1.0") << "three places are free";
  bench->block_done(300, 1, 0, 0);
  EXPECT_EQ(blocks_until(400), "sm1:1.1") << "as many blocks run of one as of the other: none";
  bench->block_done(400, 1, 1, 1);
  EXPECT_EQ(blocks_until(500), "sm0:2.0 sm1:2.1 sm0:2.2 sm1:2.3");
}

TEST_F(Gangs, LetNoOtherGridTakeThePlacesForWhichTheyWait) {
  use("smk");
  bench->launch(0, {.grid = 1, .blocks = 8});
  EXPECT_EQ(blocks_until(200), "sm0:1.0 sm1:1.1 sm0:1.2 sm1:1.3 sm0:1.4 sm1:1.5");
  bench->launch(200, {.grid = 2, .blocks = 2, .tenant = 1, .kernel = meeting});
  blocks_until(310);
  done(310, 1, {0, 1, 2, 3});  // 4 and 5, which were staged, run
  EXPECT_EQ(blocks_until(400), "sm0:2.0 sm1:2.1 sm0:1.6 sm1:1.7");
}

TEST_F(Gangs, AreNotStaged) {
  use("smk");
  bench->launch(0, {.grid = 1, .blocks = 4});
  bench->launch(0, {.grid = 2, .blocks = 1, .tenant = 1, .kernel = meeting});
  EXPECT_EQ(blocks_until(300), "sm0:1.0 sm1:2.0 sm0:1.1 sm1:1.2 sm0:1.3");
  bench->launch(300, {.grid = 3, .blocks = 1, .tenant = 2, .kernel = meeting});
  EXPECT_EQ(blocks_until(500), "");
  bench->block_done(500, 2, 1, 0);
  EXPECT_EQ(blocks_until(600), "sm1:3.0");
}

TEST_F(Gangs, OfOneTenantThatMeetInOneMemoryDoNotOverlap) {
  use("spatial", "none", 3);
  for (const std::uint32_t grid : {1u, 2u})
    bench->launch(
        0,
        {.grid = grid, .blocks = 1, .kernel = meeting, .stream = static_cast<std::uint16_t>(grid)});
  EXPECT_EQ(blocks_until(300), "sm0:1.0");
  bench->block_done(300, 1, 0, 0);
  EXPECT_EQ(blocks_until(400), "sm0:2.0");
}

TEST_F(Gangs, AtAnotherTenantsSmsDisturbNobody) {
  use("spatial", "none", 3);
  bench->launch(0, {.grid = 1, .blocks = 3, .kernel = meeting});
  bench->launch(0, {.grid = 2, .blocks = 1, .tenant = 1});
  bench->launch(0, {.grid = 3, .blocks = 2, .tenant = 2, .kernel = meeting});
  EXPECT_EQ(blocks_until(300), "sm1:2.0 sm2:3.0 sm2:3.1") << "grid 1 can have two places of six";
}

class UrgentGang : public Gangs, public ::testing::WithParamInterface<std::string> {
 protected:
  /// `third`: one that is more urgent is ready at 412.
  void begin(std::uint32_t blocks, bool third = false) {
    use("exclusive", GetParam());
    bench->launch(0, {.grid = 1, .blocks = 4});
    bench->launch(200,
                  {.grid = 2, .blocks = blocks, .tenant = 1, .kernel = meeting, .priority = 1});
    if (third) bench->launch(312, {.grid = 3, .blocks = 4, .tenant = 2, .priority = 2});
    bench->run_until(400);
    bench->sent();
  }
  void free_sm(double at, std::uint32_t sm) {
    for (const std::uint64_t block : {sm, sm + 2u}) {
      if (GetParam() == "switch")
        bench->block(at, MessageKind::block_saved, 1, sm, block);
      else if (GetParam() == "flush")
        bench->block_flushed(at, 1, sm, block, {}, {});
      else
        bench->block_done(at, 1, sm, block);
    }
    bench->grid_stopped(at, 1, sm);
  }
};

TEST_P(UrgentGang, StartsWhenItHasAllItsSms) {
  begin(4);
  free_sm(410, 1);
  EXPECT_EQ(blocks_until(500), "");
  free_sm(510, 0);
  EXPECT_EQ(blocks_until(600), "sm0:2.0 sm1:2.1 sm0:2.2 sm1:2.3");
}

TEST_P(UrgentGang, IsNotDisturbedWhileItsBlocksGoOut) {
  begin(4, true);
  free_sm(410, 1);
  free_sm(410, 0);
  bench->run_until(413);
  bench->save_and_restore();
  bench->run_until(450);
  std::vector<std::string> of_the_gang;  // without times and names of SMs
  for (const std::string& line : bench->sent())
    if (line.find("block 2") != std::string::npos || line.ends_with(GetParam() + " 2") ||
        line.ends_with("save 2"))
      of_the_gang.push_back(line.substr(line.find("sm") + 4));
  const std::string stop = (GetParam() == "switch" ? "save" : GetParam()) + " 2";
  EXPECT_THAT(of_the_gang, ::testing::ElementsAre("block 2.0", "block 2.1", "block 2.2",
                                                  "block 2.3", stop, stop));
}

TEST_P(UrgentGang, WaitsForMoreUrgentBlocksToEnd) {
  use("exclusive", GetParam());
  bench->launch(0, {.grid = 1, .blocks = 2, .tenant = 2, .priority = 2});  // SM 0 and SM 1
  bench->launch(0, {.grid = 2, .blocks = 4, .tenant = 1, .kernel = meeting, .priority = 1});
  bench->run_until(400);
  EXPECT_EQ(bench->blocks(), "sm0:1.0 sm1:1.1");
  bench->block_done(400, 1, 0, 0);
  EXPECT_EQ(blocks_until(500), "");
  bench->block_done(500, 1, 1, 1);
  EXPECT_EQ(blocks_until(600), "sm0:2.0 sm1:2.1 sm0:2.2 sm1:2.3");
}

INSTANTIATE_TEST_SUITE_P(ByTechnique, UrgentGang, ::testing::Values("drain", "switch", "flush"),
                         [](const auto& test) { return variant_name(test.param); });

}  // namespace
}  // namespace lockstep::gangs_test
