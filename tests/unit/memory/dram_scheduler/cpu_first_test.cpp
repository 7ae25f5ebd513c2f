/// The GPU's row hits against the CPU's random rows, under fr-fcfs and its counterpart.
#include <gtest/gtest.h>

#include "tests/unit/memory/dram_bench.hpp"

namespace lockstep::test::cpu_first_test {
namespace {

using Order = std::vector<std::uint32_t>;

/// A row hit of the GPU is being served; then a request of the CPU for another row comes, and two
/// more hits.
Order order_under(const std::string& scheduler) {
  DramBench dram(tiny_hbm2(), scheduler);
  dram.send(0, {.bank = 0, .row = 1});
  dram.send(1, {.bank = 0, .row = 2, .tenant = 1, .source = SourceKind::host});
  dram.send(2, {.bank = 0, .row = 1});
  dram.send(3, {.bank = 0, .row = 1});
  return dram.order();
}

// A26 of memory-interference.md, section 11.
TEST(CpuFirst, UnderFrFcfsHitsOfTheGpuAlwaysGoFirst) {
  EXPECT_EQ(order_under("{name: fr-fcfs, age_limit: 0}"), (Order{0, 2, 3, 1}));
  DramBench dram(tiny_hbm2(), "{name: fr-fcfs, age_limit: 0}");
  dram.read(0, 0, 1);
  const std::uint32_t other = dram.read(0, 0, 2);
  for (std::int64_t at = 1; at < 30'000; at += 2) dram.read(at, 0, 1);
  EXPECT_EQ(dram.order().back(), other);
}

TEST(CpuFirst, UnderCfrFcfsTheCpuGoesBeforeAnyHitOfTheGpu) {
  // The row opens for the CPU at once: the GPU's first request had not been served.
  EXPECT_EQ(order_under("cfr-fcfs"), (Order{1, 0, 2, 3}));
}

TEST(CpuFirst, AmongRequestsOfTheCpuHitsGoFirstUnderCfrFcfs) {
  DramBench dram(tiny_hbm2(), "cfr-fcfs");
  const auto of_cpu = [](std::uint32_t row) {
    return DramBench::Request{.bank = 0, .row = row, .source = SourceKind::host};
  };
  dram.send(0, of_cpu(1));
  dram.send(0, of_cpu(2));
  dram.send(0, of_cpu(1));
  EXPECT_EQ(dram.order(), (Order{0, 2, 1}));
}

TEST(CpuFirst, UnderCtcmTheCpuGoesFirstWhateverTheRanks) {
  DramBench dram(tiny_hbm2(), "ctcm");
  for (int i = 0; i < 20; ++i) dram.send(0, {.bank = 1, .row = 1, .source = SourceKind::host});
  dram.send(0, {.bank = 2, .row = 1, .tenant = 1});
  dram.decide(1000);  // the GPU's tenant asks least and ranks highest
  dram.send(2000, {.bank = 0, .row = 1, .tenant = 1});
  dram.send(2001, {.bank = 0, .row = 2, .source = SourceKind::host});
  const Order order = dram.order();
  EXPECT_EQ(Order(order.end() - 2, order.end()), (Order{22, 21}));
}

}  // namespace
}  // namespace lockstep::test::cpu_first_test
