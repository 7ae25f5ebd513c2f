/// Batches of PAR-BS, request by request.
#include <gtest/gtest.h>

#include "tests/unit/memory/dram_bench.hpp"

namespace lockstep::test::par_bs_test {
namespace {

using Order = std::vector<std::uint32_t>;

TEST(ParBs, AMarkedRequestGoesBeforeRowHitsThatCameLater) {
  DramBench dram(tiny_hbm2(), "par-bs");
  dram.read(0, 0, 1);
  dram.read(0, 0, 2);  // marked with the first
  dram.run_before(1);
  for (std::int64_t at = 2; at < 8; ++at) dram.read(at, 0, 1);
  EXPECT_EQ(dram.order(), (Order{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(ParBs, ABatchTakesNoMoreThanTheCapOfATenantAndBank) {
  DramBench dram(tiny_hbm2(), "{name: par-bs, cap: 2}");
  dram.read(0, 0, 1);
  dram.read(0, 0, 2);
  dram.read(0, 0, 1);  // a hit, but the third of its bank
  dram.read(0, 0, 1);
  EXPECT_EQ(dram.order(), (Order{0, 1, 2, 3}));
  DramBench roomy(tiny_hbm2(), "{name: par-bs, cap: 4}");
  roomy.read(0, 0, 1);
  roomy.read(0, 0, 2);
  roomy.read(0, 0, 1);
  roomy.read(0, 0, 1);
  EXPECT_EQ(roomy.order(), (Order{0, 2, 3, 1}));
}

TEST(ParBs, WithinABatchTheTenantWithTheSmallestLargestLoadGoesFirst) {
  DramBench dram(tiny_hbm2(), "par-bs");
  // Tenant 0: three in bank 0.  Tenant 1: one each in banks 0, 1, 4 and 5.
  dram.send(0, {.bank = 0, .row = 1});
  dram.send(0, {.bank = 0, .row = 2});
  dram.send(0, {.bank = 0, .row = 3});
  for (const std::uint32_t bank : {0u, 1u, 4u, 5u})
    dram.send(0, {.bank = bank, .row = 9, .tenant = 1});
  const Order order = dram.order();
  EXPECT_EQ(Order(order.end() - 3, order.end()), (Order{0, 1, 2}));
}

TEST(ParBs, AmongEqualLargestLoadsTheSmallerTotalGoesFirst) {
  DramBench dram(tiny_hbm2(), "par-bs");
  dram.send(0, {.bank = 0, .row = 1});
  dram.send(0, {.bank = 1, .row = 1});
  dram.send(0, {.bank = 0, .row = 2, .tenant = 1});
  EXPECT_EQ(dram.order(), (Order{2, 1, 0}));
}

TEST(ParBs, TheNextBatchFormsWhenNoMarkedRequestIsLeft) {
  DramBench dram(tiny_hbm2(), "par-bs");
  dram.read(0, 0, 1);
  dram.run_before(1);
  dram.read(2, 0, 2);  // after the batch of one
  dram.read(3, 0, 3);
  dram.run_before(45);
  dram.read(46, 0, 3);  // a hit after the second batch has formed
  dram.run();
  const auto view = dram.policy_statistics();
  std::vector<std::uint64_t> row(view.schema->row_size(2));
  view.schema->gather(view.values, 2, row);
  EXPECT_EQ(row[0], 3u);  // batches
  EXPECT_EQ(row[1], 4u);  // marked, of tenant 0
  EXPECT_EQ(row[2], 0u);
  EXPECT_EQ(dram.order(), (Order{0, 1, 2, 3}));
}

TEST(ParBs, EqualTenantsComeInAnOrderThatTheSeedDecides) {
  unsigned first_tenant_first = 0;
  DramBench dram(tiny_hbm2(), "par-bs");
  for (std::int64_t batch = 0; batch < 100; ++batch) {
    const auto row = static_cast<std::uint32_t>(2 * batch % 50);  // no row is open already
    dram.send(1000 * batch, {.bank = 0, .row = row});
    dram.send(1000 * batch, {.bank = 0, .row = row + 1, .tenant = 1});
  }
  const Order order = dram.order();
  for (std::size_t i = 0; i < order.size(); i += 2) first_tenant_first += order[i] % 2 == 0;
  EXPECT_GT(first_tenant_first, 30u);
  EXPECT_LT(first_tenant_first, 70u);
}

}  // namespace
}  // namespace lockstep::test::par_bs_test
