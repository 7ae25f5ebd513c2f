/// What ATLAS counts, how it ranks, and the order that follows.
#include <gtest/gtest.h>

#include "tests/unit/memory/dram_bench.hpp"
#include "tests/unit/memory/partition_policies.hpp"

namespace lockstep::test::atlas_test {
namespace {

using Order = std::vector<std::uint32_t>;
using Words = std::vector<std::uint64_t>;

std::unique_ptr<EpochController> controller(const std::string& scheduler, std::size_t tenants) {
  const PolicyChoice choice = dram_scheduler_choice(scheduler);
  return dram_schedulers().factory(choice).controller({choice, tenants, Time{1'000'000}});
}

Words decided(EpochController& controller, std::uint64_t epoch, const Words& increments) {
  controller.add(increments);
  Words values;
  controller.decide(epoch, values);
  return values;
}

TEST(Atlas, ABankServesATenantFromItsFirstCommandToTheEndOfItsData) {
  DramBench dram(tiny_hbm2(), "atlas");
  dram.send(0, {.bank = 0, .row = 1});                               // activate 14, read 14 + 1
  dram.send(500, {.bank = 0, .row = 2, .tenant = 1, .sectors = 3});  // two columns, 2 apart
  dram.run();
  Words service;
  dram.channel().scheduler().report(service);
  EXPECT_EQ(service, (Words{14 + 15, 14 + 14 + 15 + 2}));
  EXPECT_FALSE(dram.channel().scheduler().has_report());
}

TEST(Atlas, TheTenantThatAttainedLeastRanksHighest) {
  const auto ranks = controller("atlas", 3);
  EXPECT_EQ(decided(*ranks, 1, {500, 100, 300}), (Words{0, 2, 1}));
}

TEST(Atlas, ThePastCountsByAlpha) {
  const auto ranks = controller("{name: atlas, alpha: 0.5}", 2);
  EXPECT_EQ(decided(*ranks, 1, {1000, 0}), (Words{0, 1}));  // averages 500 and 0
  EXPECT_EQ(decided(*ranks, 2, {0, 200}), (Words{0, 1}));   // 250 and 100
  EXPECT_EQ(decided(*ranks, 3, {0, 200}), (Words{1, 0}));   // 125 and 150
}

TEST(Atlas, ReportsOfAllChannelsAreAdded) {
  const auto ranks = controller("atlas", 2);
  ranks->add(Words{300, 200});
  EXPECT_EQ(decided(*ranks, 1, {0, 200}), (Words{1, 0}));
}

TEST(Atlas, QuantaWithoutReportsFadeThePast) {
  const auto ranks = controller("{name: atlas, alpha: 0.5}", 2);
  decided(*ranks, 1, {1000, 0});                           // averages 500 and 0
  EXPECT_EQ(decided(*ranks, 5, {0, 100}), (Words{1, 0}));  // 500 / 16 and 50
}

TEST(Atlas, QuantaEndAtMultiplesOfTheirLength) {
  EXPECT_EQ(controller("{name: atlas, quantum: 5000}", 2)->period(), Time{5'000'000'000});
}

TEST(Atlas, AHigherRankGoesBeforeRowHitsAndAge) {
  DramBench dram(tiny_hbm2(), "atlas");
  dram.send(0, {.bank = 0, .row = 1});
  dram.decide(500);  // tenant 1 attained nothing
  dram.send(1000, {.bank = 0, .row = 1});
  dram.send(1000, {.bank = 0, .row = 1});
  dram.send(1000, {.bank = 0, .row = 2, .tenant = 1});
  EXPECT_EQ(dram.order(), (Order{0, 3, 1, 2}));
}

TEST(Atlas, WhoHasWaitedForLongGoesFirst) {
  DramBench dram(tiny_hbm2(), "{name: atlas, starve: 2000}");
  dram.send(0, {.bank = 0, .row = 1});
  dram.decide(500);
  const std::uint32_t low = dram.send(1000, {.bank = 0, .row = 1});
  for (std::int64_t at = 1000; at < 9000; at += 2)
    dram.send(at, {.bank = 0, .row = 2, .tenant = 1});
  for (const auto& [number, cycle] : dram.returned())
    if (number == low) {
      EXPECT_GE(cycle, 3000);
      EXPECT_LT(cycle, 3200);
    }
}

}  // namespace
}  // namespace lockstep::test::atlas_test
