/// The blocks of a thread block cluster start at once, in one GPC, or wait.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <sstream>

#include "models/noc/cluster_messages.hpp"
#include "tests/harness/policy_variants.hpp"
#include "tests/unit/dispatch/dispatcher_bench.hpp"

namespace lockstep::clusters_test {
namespace {

constexpr std::uint16_t small = 0, wide = 1;

/// GPCs of three and five SMs; each SM has room for two small blocks, or one wide one.
class Clusters : public ::testing::Test {
 protected:
  void use(const std::string& sharing, const std::string& preemption = "none") {
    BenchOptions options;
    options.sms = 8;
    options.gpcs = {3, 5};
    options.sharing = sharing;
    options.preemption = preemption;
    bench.emplace(options);
  }
  std::string blocks_until(double ns) {
    bench->run_until(ns);
    return bench->blocks();
  }
  std::optional<DispatcherBench> bench;
};

TEST_F(Clusters, AllBlocksLeaveAtTheSameTime) {
  use("exclusive");
  bench->launch(0, {.grid = 1, .blocks = 4, .cluster = 4});
  bench->run_until(400);
  std::vector<std::string> blocks;
  for (const std::string& line : bench->sent())
    if (line.find("block") != std::string::npos) blocks.push_back(line);
  EXPECT_THAT(blocks, ::testing::ElementsAre("100 sm3 block 1.0", "100 sm4 block 1.1",
                                             "100 sm5 block 1.2", "100 sm6 block 1.3"));
}

TEST_F(Clusters, TheNextOneLeavesWhenItsBlocksHaveHadTheirTurns) {
  use("exclusive");
  bench->launch(0, {.grid = 1, .blocks = 4, .cluster = 2});
  bench->run_until(400);
  std::vector<std::string> blocks;
  for (const std::string& line : bench->sent())
    if (line.find("block") != std::string::npos) blocks.push_back(line);
  EXPECT_THAT(blocks, ::testing::ElementsAre("100 sm0 block 1.0", "100 sm1 block 1.1",
                                             "102 sm3 block 1.2", "102 sm4 block 1.3"))
      << "two blocks in two GPCs take the turn of one block";
}

TEST_F(Clusters, PairsOfSmsComeFirstAndGpcsTakeTurns) {
  use("exclusive");
  bench->launch(0, {.grid = 1, .blocks = 14, .kernel = small, .cluster = 2});
  EXPECT_EQ(blocks_until(400),
            "sm0:1.0 sm1:1.1 sm3:1.2 sm4:1.3 sm5:1.4 sm6:1.5 sm3:1.6 sm4:1.7 sm5:1.8 sm6:1.9 "
            "sm7:1.10 sm7:1.11 sm0:1.12 sm1:1.13");
}

TEST_F(Clusters, WaitUntilOneGpcHasRoomForAllBlocks) {
  use("smk");
  bench->launch(0, {.grid = 1, .blocks = 8, .kernel = wide});
  EXPECT_EQ(blocks_until(300), "sm0:1.0 sm1:1.1 sm2:1.2 sm3:1.3 sm4:1.4 sm5:1.5 sm6:1.6 sm7:1.7");
  bench->launch(300, {.grid = 2, .blocks = 4, .tenant = 1, .kernel = wide, .cluster = 4});
  bench->block_done(500, 1, 0, 0);
  bench->block_done(500, 1, 1, 1);
  bench->block_done(500, 1, 2, 2);
  bench->block_done(500, 1, 3, 3);
  EXPECT_EQ(blocks_until(600), "") << "four places are free, but in two GPCs";
  bench->block_done(600, 1, 5, 5);
  bench->block_done(600, 1, 6, 6);
  bench->block_done(600, 1, 7, 7);
  EXPECT_EQ(blocks_until(700), "sm3:2.2 sm5:2.0 sm6:2.1 sm7:2.3") << "SM 4 is taken";
}

TEST_F(Clusters, LetNoOtherGridTakeThePlacesForWhichTheyWait) {
  use("smk");
  bench->launch(0, {.grid = 1, .blocks = 16, .kernel = wide});
  bench->run_until(300);
  bench->blocks();
  bench->launch(300, {.grid = 2, .blocks = 5, .tenant = 1, .kernel = wide, .cluster = 5});
  for (std::uint32_t sm = 0; sm < 8; ++sm) {
    bench->block_done(500 + sm, 1, sm, sm);
    EXPECT_EQ(blocks_until(501 + sm), "") << "the staged block is there already";
  }
  for (std::uint32_t sm = 3; sm < 8; ++sm) bench->block_done(600, 1, sm, 8 + sm);
  EXPECT_EQ(blocks_until(700), "sm3:2.0 sm4:2.1 sm5:2.2 sm6:2.3 sm7:2.4");
}

TEST_F(Clusters, NoBlockOfThemIsStaged) {
  use("exclusive");
  bench->launch(0, {.grid = 1, .blocks = 24, .kernel = wide, .cluster = 3});
  EXPECT_EQ(blocks_until(500), "sm0:1.0 sm1:1.1 sm2:1.2 sm3:1.3 sm4:1.4 sm5:1.5");
  for (std::uint32_t sm = 0; sm < 3; ++sm) bench->block_done(500, 1, sm, sm);
  EXPECT_EQ(blocks_until(600), "sm0:1.6 sm1:1.7 sm2:1.8");
}

TEST_F(Clusters, OfSeveralDimensionsHaveTheirBlocksSideBySide) {
  GridLaunch launch;
  launch.blocks = {6, 4, 2};
  launch.cluster = {3, 2, 1};
  EXPECT_EQ(block_in_cluster(launch, {0, 4}), 7u);
  EXPECT_EQ(block_in_cluster(launch, {7, 5}), 5u + 6 * (3 + 4 * 1));
  for (std::uint64_t block = 0; block < 48; ++block) {
    const ClusterRank place = place_in_cluster(launch, block);
    EXPECT_LT(place.cluster, 8u);
    EXPECT_LT(place.rank, 6u);
    EXPECT_EQ(block_in_cluster(launch, place), block);
  }
}

/// Grids of all kinds together: every cluster starts whole, in one GPC, and all grids come to an
/// end.
TEST(ClustersOfManyGrids, StartWholeInOneGpcAndAllEnd) {
  const std::vector<std::uint32_t> gpcs{3, 4, 1, 6, 2};
  const auto gpc_of = [&](std::uint32_t sm) {
    std::uint32_t gpc = 0;
    for (std::uint32_t end = gpcs[0]; sm >= end; end += gpcs[++gpc]) continue;
    return gpc;
  };
  for (const std::string& policies :
       {std::string("exclusive none"), std::string("spatial none"), std::string("smk none"),
        std::string("exclusive drain"), std::string("exclusive flush"),
        std::string("exclusive switch")}) {
    for (unsigned seed = 0; seed < 12; ++seed) {
      std::mt19937 random(seed);
      const auto pick = [&](std::uint32_t count) {
        return static_cast<std::uint32_t>(random() % count);
      };
      BenchOptions options;
      options.sms = 16;
      options.gpcs = gpcs;
      options.sharing = policies.substr(0, policies.find(' '));
      options.preemption = policies.substr(policies.find(' ') + 1);
      options.sms_per_tenant = {9, 7};
      DispatcherBench bench(options);
      std::map<std::uint32_t, std::uint32_t> cluster_of_grid;
      std::multimap<double, DispatcherBench::Launch> launches;
      for (std::uint32_t grid = 1; grid <= 12; ++grid) {
        const auto tenant = static_cast<std::uint16_t>(pick(2));
        const auto cluster = static_cast<std::uint8_t>(std::array{1, 2, 3, 4}[pick(4)]);
        const std::uint32_t blocks = cluster * (1 + pick(9));
        cluster_of_grid[grid] = cluster;
        launches.emplace(20 * pick(75),
                         DispatcherBench::Launch{.grid = grid,
                                                 .blocks = blocks,
                                                 .tenant = tenant,
                                                 .kernel = static_cast<std::uint16_t>(pick(2)),
                                                 .priority = pick(3),
                                                 .cluster = cluster});
      }
      std::map<std::pair<std::uint32_t, std::uint32_t>, std::set<std::pair<double, std::uint32_t>>>
          starts;  // of a cluster: times and GPCs
      std::set<std::pair<std::uint32_t, std::uint32_t>> sent;
      std::set<std::uint32_t> ended;
      struct Running {
        std::uint32_t grid, sm, block;
      };
      std::multimap<double, std::vector<Running>> ends;
      std::map<std::pair<std::uint32_t, std::uint32_t>,
               std::set<std::pair<std::uint32_t, std::uint32_t>>>
          at_sm;
      std::set<std::pair<std::uint32_t, std::uint32_t>> stopping;  // grid, sm
      double now = 0;
      for (int step = 0; step < 3000 && ended.size() < 12; ++step) {
        for (; !launches.empty() && launches.begin()->first <= now;
             launches.erase(launches.begin()))
          bench.launch(now, launches.begin()->second);
        now += 20;
        bench.run_until(now);
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Running>> begun;
        for (const std::string& line : bench.sent()) {
          std::istringstream words(line);
          double at = 0;
          std::string place, what, which;
          words >> at >> place >> what >> which;
          if (what == "done") ended.insert(static_cast<std::uint32_t>(std::stoul(which)));
          if (place.substr(0, 2) != "sm") continue;
          const auto sm = static_cast<std::uint32_t>(std::stoul(place.substr(2)));
          if (what == "drain" || what == "flush" || what == "save")
            stopping.insert({static_cast<std::uint32_t>(std::stoul(which)), sm});
          if (what == "resume") stopping.erase({static_cast<std::uint32_t>(std::stoul(which)), sm});
          if (what != "block") continue;
          const auto dot = which.find('.');
          const auto grid = static_cast<std::uint32_t>(std::stoul(which.substr(0, dot)));
          const auto block = static_cast<std::uint32_t>(std::stoul(which.substr(dot + 1)));
          const std::uint32_t number = block / cluster_of_grid[grid];
          ASSERT_TRUE(sent.insert({grid, block}).second) << which << " started twice";
          starts[{grid, number}].insert({at, gpc_of(sm)});
          begun[{grid, number}].push_back({grid, sm, block});
          at_sm[{grid, sm}].insert({grid, block});
        }
        // The blocks of a cluster all give their places up together, sooner or later.
        for (auto& [key, blocks] : begun) ends.emplace(now + 40 + pick(300), blocks);
        while (!ends.empty() && ends.begin()->first <= now) {
          for (const Running& block : ends.begin()->second) {
            bench.block_done(now, block.grid, block.sm, block.block);
            at_sm[{block.grid, block.sm}].erase({block.grid, block.block});
          }
          ends.erase(ends.begin());
        }
        for (auto it = stopping.begin(); it != stopping.end();) {
          if (!at_sm[*it].empty()) {
            ++it;
            continue;
          }
          bench.grid_stopped(now, it->first, it->second);
          it = stopping.erase(it);
        }
      }
      ASSERT_EQ(ended.size(), 12u)
          << policies << ", seed " << seed << ": " << bench.dispatcher().waiting_for();
      for (const auto& [cluster, at] : starts)
        EXPECT_TRUE(cluster_of_grid[cluster.first] == 1 || at.size() == 1)
            << "cluster " << cluster.second << " of grid " << cluster.first << ", " << policies;
    }
  }
}

}  // namespace
}  // namespace lockstep::clusters_test
