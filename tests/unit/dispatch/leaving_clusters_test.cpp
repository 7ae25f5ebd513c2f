/// Clusters that make room leave as units, and return or start again whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <sstream>

#include "models/noc/cluster_messages.hpp"
#include "tests/unit/dispatch/dispatcher_bench.hpp"

namespace lockstep::leaving_clusters_test {
namespace {

constexpr std::uint16_t wide = 1;

/// GPCs of three and five SMs, each with room for one wide block; a cluster of three in each GPC.
class LeavingClusters : public ::testing::Test {
 protected:
  void use(const std::string& preemption) {
    BenchOptions options;
    options.sms = 8;
    options.gpcs = {3, 5};
    options.preemption = preemption;
    bench.emplace(options);
    bench->launch(0, {.grid = 1, .blocks = 6, .kernel = wide, .cluster = 3});
    EXPECT_EQ(blocks_until(300), "sm0:1.0 sm1:1.1 sm2:1.2 sm3:1.3 sm4:1.4 sm5:1.5");
  }
  std::string blocks_until(double ns) {
    bench->run_until(ns);
    return bench->blocks();
  }
  /// "sm3 returns 1.0": what was sent that begins so, without times and places in memory.
  std::vector<std::string> returns_until(double ns) {
    bench->run_until(ns);
    std::vector<std::string> lines;
    for (const std::string& line : bench->sent()) {
      const std::size_t from = line.find(" from ");
      if (from == std::string::npos) continue;
      lines.push_back(line.substr(line.find(" sm") + 1, from - line.find(" sm") - 1));
    }
    return lines;
  }
  void save(double ns, std::uint32_t sm, std::uint64_t block) {
    bench->block(ns, MessageKind::block_saved, 1, sm, block);
    bench->block_given(ns, 1, sm, block);
  }
  std::optional<DispatcherBench> bench;
};

TEST_F(LeavingClusters, ASavedClusterReturnsWhenAllOfItIsSavedAndAGpcHasRoom) {
  use("switch");
  bench->launch(300, {.grid = 2, .blocks = 3, .tenant = 1, .kernel = wide, .priority = 1});
  bench->run_until(500);  // SMs 6 and 7 are free, and SM 0 is taken
  bench->blocks();
  save(500, 0, 0);
  bench->grid_stopped(500, 1, 0);
  save(501, 1, 1);
  EXPECT_THAT(returns_until(550), ::testing::IsEmpty()) << "a block of it is not saved yet";
  save(550, 2, 2);
  bench->block_done(600, 2, 6, 0);
  bench->block_done(600, 2, 7, 1);
  EXPECT_THAT(returns_until(700), ::testing::IsEmpty()) << "no GPC has room for three blocks";
  bench->block_done(700, 2, 0, 2);
  EXPECT_THAT(returns_until(800),
              ::testing::ElementsAre("sm0 returns 1.0", "sm1 returns 1.1", "sm2 returns 1.2"));
}

TEST_F(LeavingClusters, ASavedClusterReturnsToAnotherGpcThatHasRoomSooner) {
  use("switch");
  bench->launch(300, {.grid = 2, .blocks = 3, .tenant = 1, .kernel = wide, .priority = 1});
  bench->run_until(500);
  bench->blocks();
  save(500, 0, 0);
  bench->grid_stopped(500, 1, 0);
  save(501, 1, 1);
  save(502, 2, 2);
  bench->run_until(600);
  for (std::uint32_t sm = 3; sm < 6; ++sm) bench->block_done(600, 1, sm, sm);
  const auto lines = returns_until(700);
  EXPECT_THAT(lines,
              ::testing::ElementsAre("sm3 returns 1.0", "sm4 returns 1.1", "sm5 returns 1.2"));
}

TEST_F(LeavingClusters, ATenantThatEndsWhileItsClusterIsSavedIsDone) {
  use("switch");
  bench->launch(300, {.grid = 2, .blocks = 3, .tenant = 1, .kernel = wide, .priority = 1});
  bench->run_until(500);
  bench->sent();
  save(500, 0, 0);
  save(501, 1, 1);
  bench->abort_tenant(510, 0);
  save(520, 2, 2);
  for (std::uint32_t sm = 3; sm < 6; ++sm) bench->block_done(530, 1, sm, sm);
  bench->run_until(600);
  EXPECT_THAT(bench->sent(), ::testing::Contains(::testing::HasSubstr("host done 1")));
}

TEST_F(LeavingClusters, GoOnAfterSavingAndRestoring) {
  use("switch");
  bench->launch(300, {.grid = 2, .blocks = 3, .tenant = 1, .kernel = wide, .priority = 1});
  bench->run_until(500);
  bench->blocks();
  save(500, 0, 0);
  bench->grid_stopped(500, 1, 0);
  save(501, 1, 1);
  bench->run_until(510);
  bench->save_and_restore();
  save(550, 2, 2);
  for (std::uint32_t sm : {6u, 7u, 0u}) bench->block_done(600, 2, sm, sm == 0 ? 2 : sm - 6);
  EXPECT_THAT(returns_until(800), ::testing::SizeIs(3));
}

TEST(UrgentClusters, TakeSmsUntilOneGpcHasRoom) {
  BenchOptions options;
  options.sms = 8;
  options.gpcs = {3, 5};
  options.preemption = "drain";
  DispatcherBench bench(options);
  bench.launch(0, {.grid = 1, .blocks = 6, .kernel = wide});
  bench.run_until(300);
  bench.sent();
  bench.launch(300,
               {.grid = 2, .blocks = 4, .tenant = 1, .kernel = wide, .priority = 1, .cluster = 4});
  bench.run_until(500);
  std::vector<std::string> drained;
  for (const std::string& line : bench.sent())
    if (line.find("drain 1") != std::string::npos)
      drained.push_back(line.substr(line.find("sm"), 3));
  EXPECT_THAT(drained, ::testing::ElementsAre("sm0", "sm1", "sm2", "sm3", "sm4"))
      << "two SMs of the GPC of five are free, and two more are taken with those before them";
}

}  // namespace
}  // namespace lockstep::leaving_clusters_test
