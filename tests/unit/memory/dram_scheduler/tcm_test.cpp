/// What TCM counts, its clusters, its shuffles, and the order that follows.
#include <gtest/gtest.h>

#include "models/memory/dram_scheduler/tcm/rank_shuffle.hpp"
#include "models/memory/dram_scheduler/tcm/tcm_clusters.hpp"
#include "tests/unit/memory/dram_bench.hpp"

namespace lockstep::test::tcm_test {
namespace {

using Order = std::vector<std::uint32_t>;
using Words = std::vector<std::uint64_t>;
using Tenants = std::vector<std::uint16_t>;

DramEntry entry(std::uint16_t tenant, std::uint8_t bank, std::uint32_t row) {
  DramEntry e;
  e.tenant = tenant;
  e.bank = bank;
  e.row = row;
  return e;
}

TEST(TenantMonitor, RowHitsAreThoseThatATenantWouldHaveAlone) {
  TenantMonitor monitor(4, 2);
  for (int i = 0; i < 3; ++i) {
    monitor.on_arrival(entry(0, 0, 1), DramCycle{0});
    monitor.on_arrival(entry(1, 0, 2), DramCycle{0});
  }
  monitor.on_arrival(entry(1, 0, 3), DramCycle{0});
  Words words;
  monitor.take(words);
  EXPECT_EQ(words[0], 3u);  // requests and shadow hits of tenant 0
  EXPECT_EQ(words[2], 2u);
  EXPECT_EQ(words[TenantUse::words], 4u);
  EXPECT_EQ(words[TenantUse::words + 2], 2u);
  EXPECT_FALSE(monitor.any());
}

TEST(TenantMonitor, BusyBanksAreSummedOverTheCyclesInWhichAnyIs) {
  TenantMonitor monitor(4, 1);
  monitor.on_arrival(entry(0, 0, 1), DramCycle{10});
  monitor.on_arrival(entry(0, 1, 1), DramCycle{20});
  monitor.on_arrival(entry(0, 1, 1), DramCycle{25});  // the bank is busy already
  monitor.on_served(entry(0, 0, 1), DramCycle{50});
  monitor.on_served(entry(0, 1, 1), DramCycle{60});
  monitor.on_served(entry(0, 1, 1), DramCycle{70});
  monitor.on_arrival(entry(0, 2, 1), DramCycle{1000});
  Words words;
  monitor.take(words);
  EXPECT_EQ(words[3], 10u + 2 * 30u + 20u);
  EXPECT_EQ(words[4], 4 * 60u);
}

TEST(RankShuffle, InsertionBringsOneAfterTheOtherToTheTopAndBack) {
  const std::vector<Tenants> expected{{4, 3, 2, 1}, {4, 3, 2, 1}, {4, 3, 1, 2},
                                      {4, 1, 2, 3}, {1, 2, 3, 4}, {4, 1, 2, 3},
                                      {4, 3, 1, 2}, {4, 3, 2, 1}, {4, 3, 2, 1}};
  for (std::uint64_t step = 0; step < expected.size(); ++step) {
    Tenants order{4, 3, 2, 1};  // 1 at the top
    shuffle_by_insertion(order, step);
    EXPECT_EQ(order, expected[step]) << step;
  }
}

TEST(RankShuffle, RandomOrdersAreAsManyAsThereAre) {
  std::map<Tenants, unsigned> seen;
  for (std::uint64_t step = 0; step < 600; ++step) {
    Tenants order{0, 1, 2};
    shuffle_at_random(order, 7, step);
    ++seen[order];
  }
  EXPECT_EQ(seen.size(), 6u);
  for (const auto& [order, times] : seen) EXPECT_GT(times, 60u);
  Tenants one{0, 1, 2}, again{0, 1, 2};
  shuffle_at_random(one, 7, 5);
  shuffle_at_random(again, 7, 5);
  EXPECT_EQ(one, again);
}

TcmDecision decision(TcmClusters& clusters, std::uint64_t epoch, const std::vector<Words>& uses) {
  Words increments, values;
  for (const Words& use : uses) increments.insert(increments.end(), use.begin(), use.end());
  clusters.add(increments);
  clusters.decide(epoch, values);
  return TcmDecision::from(values);
}

// Of each tenant: requests, columns, shadow hits, busy banks of all banks.

TEST(TcmClusters, TenantsThatAskLeastEnterTheLatencyClusterWhileItsShareLasts) {
  TcmClusters clusters(Time{1}, 0.2, 4);
  const TcmDecision got = decision(
      clusters, 1,
      {{600, 600, 0, 1, 10}, {100, 100, 0, 1, 10}, {50, 50, 0, 1, 10}, {250, 250, 0, 1, 10}});
  // 50 + 100 of 1000 are within a fifth, 250 more are not.
  EXPECT_EQ(got.bandwidth_cluster, 2u);
  EXPECT_EQ(got.order[3], 2u);
  EXPECT_EQ(got.order[2], 1u);
}

TEST(TcmClusters, NiceTenantsUseManyBanksAndHitFewRows) {
  TcmClusters clusters(Time{1}, 0, 3);
  const TcmDecision got = decision(
      clusters, 1, {{100, 100, 90, 10, 100}, {100, 100, 10, 80, 100}, {100, 100, 50, 40, 100}});
  EXPECT_EQ(got.bandwidth_cluster, 3u);
  EXPECT_TRUE(got.insertion);
  EXPECT_EQ(got.order, (Tenants{0, 2, 1}));
}

TEST(TcmClusters, AlikeTenantsAreShuffledAtRandom) {
  const auto alike = [](std::uint64_t hits, std::uint64_t banks) {
    TcmClusters one(Time{1}, 0, 2);
    return !decision(one, 1, {{100, 100, 50, 40, 100}, {100, 100, hits, banks, 100}}).insertion;
  };
  EXPECT_TRUE(alike(55, 45));
  EXPECT_TRUE(alike(90, 45));
  EXPECT_TRUE(alike(55, 90));
  EXPECT_FALSE(alike(90, 90));
}

TEST(TcmClusters, AQuantumCountsAsMuchAsAllBefore) {
  TcmClusters clusters(Time{1}, 0.5, 2);
  EXPECT_EQ(decision(clusters, 1, {{100, 100, 0, 1, 10}, {300, 300, 0, 1, 10}}).order.back(), 0u);
  // Averages 200 and 150.
  EXPECT_EQ(decision(clusters, 2, {{300, 300, 0, 1, 10}, {0, 0, 0, 0, 0}}).order.back(), 1u);
}

TEST(Tcm, TheLatencyClusterGoesBeforeRowHitsOfOthers) {
  DramBench dram(tiny_hbm2(), "tcm");
  for (std::size_t line = 0; line < 8; ++line) dram.read(0, 0, 1, 15);
  dram.send(0, {.bank = 1, .row = 1, .tenant = 1});
  dram.decide(2000);
  dram.send(3000, {.bank = 0, .row = 1});
  dram.send(3000, {.bank = 0, .row = 1});
  dram.send(3000, {.bank = 0, .row = 2, .tenant = 1});
  const Order order = dram.order();
  EXPECT_EQ(Order(order.end() - 3, order.end()), (Order{11, 9, 10}));
}

TEST(Tcm, TheBandwidthClusterTakesTurnsByTheInterval) {
  const auto first_tenant_first = [](std::int64_t interval) {
    DramBench dram(tiny_hbm2(), "{name: tcm, cluster_threshold: 0, shuffle_interval: " +
                                    std::to_string(interval) + "}");
    dram.send(0, {.bank = 0, .row = 1});
    dram.send(0, {.bank = 1, .row = 1, .tenant = 1});
    dram.decide(1000);
    for (std::int64_t i = 2; i < 102; ++i) {
      dram.send(1000 * i, {.bank = 0, .row = 1});
      dram.send(1000 * i, {.bank = 0, .row = 2, .tenant = 1});
    }
    const Order order = dram.order();
    unsigned count = 0;
    for (std::size_t i = 2; i < order.size(); i += 2) count += order[i] % 2 == 0;
    return count;
  };
  const unsigned changing = first_tenant_first(800);
  EXPECT_GT(changing, 25u);
  EXPECT_LT(changing, 75u);
  const unsigned staying = first_tenant_first(10'000'000);
  EXPECT_TRUE(staying == 0 || staying == 100) << staying;
}

}  // namespace
}  // namespace lockstep::test::tcm_test
