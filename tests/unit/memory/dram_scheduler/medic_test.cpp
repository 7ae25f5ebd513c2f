/// MeDiC's two queues: test A5 of memory-interference.md, section 11.
#include <gtest/gtest.h>

#include "tests/unit/memory/dram_bench.hpp"

namespace lockstep::test::medic_scheduler_test {
namespace {

using Order = std::vector<std::uint32_t>;

DramParameters four_places() {
  DramParameters p = tiny_hbm2();
  p.queue = 4;
  return p;
}
constexpr std::uint8_t high = mark_mostly_hit;

bool room(DramBench& dram, std::uint8_t marks) {
  MemoryRequest request;
  request.marks = marks;
  return dram.channel().room(request, false);
}

TEST(MedicScheduler, AFullLowQueueDoesNotKeepOutARequestThatGoesFirst) {
  DramBench dram(four_places(), "{name: medic, high: 1}");
  for (std::uint32_t row = 1; row <= 4; ++row) dram.send(0, {.bank = 0, .row = row});
  EXPECT_FALSE(room(dram, 0));
  ASSERT_TRUE(room(dram, high));
  dram.send(0, {.bank = 0, .row = 5, .marks = high});
  EXPECT_FALSE(room(dram, high));
  dram.run();
  EXPECT_EQ(dram.order(), (Order{4, 0, 1, 2, 3}));
}

TEST(MedicScheduler, RowHitsOfTheLowQueueWait) {
  DramBench dram(tiny_hbm2(), "medic");
  dram.send(0, {.bank = 0, .row = 1});
  dram.send(1, {.bank = 0, .row = 2, .marks = high});
  for (int i = 0; i < 4; ++i) dram.send(2, {.bank = 0, .row = 1});
  dram.run();
  EXPECT_EQ(dram.order().front(), 1u);
}

TEST(MedicScheduler, RowsStayOpenForTheLowQueueIfAsked) {
  DramBench dram(tiny_hbm2(), "{name: medic, open_rows: true}");
  dram.send(0, {.bank = 0, .row = 1});
  for (int i = 0; i < 4; ++i) dram.send(1, {.bank = 0, .row = 1});
  dram.send(1, {.bank = 0, .row = 2, .marks = high});
  dram.send(1, {.bank = 0, .row = 3});
  dram.run();
  EXPECT_EQ(dram.order(), (Order{0, 1, 2, 3, 4, 5, 6}));
}

TEST(MedicScheduler, WritesOfWarpsThatMostlyHitAreInTheLowQueueIfAsked) {
  DramParameters p = four_places();
  p.write_queue = 0;
  const auto has_room_beside_full_low_queue = [&](const std::string& policy, bool write) {
    DramBench dram(p, policy);
    for (std::uint32_t row = 1; row <= 4; ++row) dram.send(0, {.bank = 0, .row = row});
    MemoryRequest request;
    request.marks = high;
    return dram.channel().room(request, write);
  };
  EXPECT_TRUE(has_room_beside_full_low_queue("medic", true));
  EXPECT_FALSE(has_room_beside_full_low_queue("{name: medic, writes: false}", true));
  EXPECT_TRUE(has_room_beside_full_low_queue("{name: medic, writes: false}", false));
}

TEST(MedicScheduler, TheHighQueueGoesFirstAmongAllOrOnlyInItsBank) {
  const auto order = [](const std::string& policy, std::uint32_t bank_of_high) {
    DramBench dram(tiny_hbm2(), policy);
    dram.send(0, {.bank = 0, .row = 1});
    dram.send(0, {.bank = bank_of_high, .row = 2, .marks = high});
    dram.run();
    return dram.order();
  };
  EXPECT_EQ(order("medic", 4), (Order{1, 0}));
  EXPECT_EQ(order("{name: medic, first: bank}", 4), (Order{0, 1}));
  EXPECT_EQ(order("{name: medic, first: bank}", 0), (Order{1, 0}));
}

TEST(MedicScheduler, BankByBankRowsStayOpenForTheLowQueueIfAsked) {
  const auto order = [](const std::string& policy) {
    DramBench dram(tiny_hbm2(), policy);
    dram.send(0, {.bank = 0, .row = 1});
    dram.send(1, {.bank = 0, .row = 1});
    dram.send(1, {.bank = 0, .row = 2, .marks = high});
    dram.run();
    return dram.order();
  };
  EXPECT_EQ(order("{name: medic, first: bank, open_rows: true}"), (Order{0, 1, 2}));
  EXPECT_EQ(order("{name: medic, first: bank}").back(), 1u);
}

TEST(MedicScheduler, TheLowQueueTakesSlotsInOtherBanks) {
  DramBench dram(tiny_hbm2(), "medic");
  dram.send(0, {.bank = 4, .row = 1});
  dram.run();
  dram.send(100, {.bank = 0, .row = 1, .marks = high});  // activation, then 14 cycles
  dram.send(101, {.bank = 4, .row = 1});                 // its row is open
  dram.run();
  EXPECT_EQ(dram.order(), (Order{0, 2, 1}));
}

TEST(MedicScheduler, TheLowQueueStarvesUntilTheHighOneFallsSilent) {
  DramBench dram(four_places(), "medic");
  dram.send(0, {.bank = 0, .row = 9});
  std::int64_t at = 0;
  for (; at < 50'000; at += 10) {
    while (!room(dram, high)) dram.run_before(++at);
    dram.send(at, {.bank = 0, .row = static_cast<std::uint32_t>(1 + at / 10 % 2), .marks = high});
  }
  dram.run();
  ASSERT_EQ(dram.order().back(), 0u);
  EXPECT_GT(dram.returned().back().second, 50'000);
  EXPECT_LT(dram.returned().back().second, 51'000);
}

}  // namespace
}  // namespace lockstep::test::medic_scheduler_test
