/// MASK's three queues: test A16 of memory-interference.md, section 11, and the turns.
#include <gtest/gtest.h>

#include <array>

#include "tests/unit/memory/dram_bench.hpp"

namespace lockstep::test::mask_scheduler_test {
namespace {

using Order = std::vector<std::uint32_t>;

DramParameters eight_places() {
  DramParameters p = tiny_hbm2();
  p.queue = 8;  // Silver 2, Normal 6
  return p;
}

/// Turns of the two tenants, in requests.
void tell(DramBench& dram, std::uint64_t first, std::uint64_t second) {
  const std::array<std::uint64_t, 6> values{~std::uint64_t{0}, 0, first,
                                            ~std::uint64_t{0}, 0, second};
  dram.channel().scheduler().on_epoch(EpochTopic::tlb_fill, values, Time::zero());
}

TEST(MaskScheduler, AWalkGoesBeforeRowHitsOfDataAndTheTurnBeforeTheRest) {
  DramBench dram(eight_places(), "mask");
  dram.send(0, {.bank = 0, .row = 1, .tenant = 1});  // opens the row
  dram.send(1, {.bank = 0, .row = 1, .tenant = 1});  // Normal
  dram.send(2, {.bank = 0, .row = 1, .tenant = 0});  // Silver: the first tenant begins
  dram.send(3, {.bank = 0, .row = 2, .tenant = 1, .walk_level = 4});
  dram.run();
  EXPECT_EQ(dram.order(), (Order{3, 2, 0, 1}));
}

TEST(MedicMaskScheduler, WithinAQueueWarpsThatMostlyHitGoFirst) {
  DramBench dram(eight_places(), "medic-mask");
  dram.send(0, {.bank = 0, .row = 1, .tenant = 1});  // opens the row
  dram.send(1, {.bank = 0, .row = 1, .tenant = 1});  // Normal
  dram.send(2, {.bank = 0, .row = 2, .tenant = 1, .marks = mark_mostly_hit});
  dram.send(3, {.bank = 0, .row = 1, .tenant = 0});  // Silver
  dram.send(4, {.bank = 0, .row = 3, .tenant = 0, .marks = mark_mostly_hit});
  dram.send(5, {.bank = 0, .row = 4, .tenant = 1, .walk_level = 4});
  dram.run();
  EXPECT_EQ(dram.order(), (Order{5, 4, 3, 2, 0, 1}));
}

TEST(MaskScheduler, WalksGoInTheirOrderAndNotByRows) {
  DramBench dram(eight_places(), "mask");
  dram.send(0, {.bank = 0, .row = 1, .walk_level = 4});
  dram.send(1, {.bank = 0, .row = 2, .walk_level = 4});
  dram.send(2, {.bank = 0, .row = 1, .walk_level = 4});
  dram.run();
  EXPECT_EQ(dram.order(), (Order{0, 1, 2}));
}

TEST(MaskScheduler, WalksHavePlacesBeyondTheQueue) {
  DramBench dram(eight_places(), "{name: mask, golden: 1}");
  for (std::uint32_t i = 0; i < 6; ++i) dram.send(0, {.bank = 0, .row = i + 1, .tenant = 1});
  MemoryRequest data, walk;
  data.tenant = 1;
  walk.tenant = 1;
  walk.walk_level = 3;
  EXPECT_FALSE(dram.channel().room(data, false));
  EXPECT_TRUE(dram.channel().room(walk, false));
  dram.send(0, {.bank = 1, .row = 1, .tenant = 1, .walk_level = 3});
  EXPECT_FALSE(dram.channel().room(walk, false));
  data.tenant = 0;  // whose turn it is
  EXPECT_TRUE(dram.channel().room(data, false));
  dram.run();
  EXPECT_EQ(dram.served(), 7u);
}

TEST(MaskScheduler, ATurnIsSoManyRequests) {
  DramBench dram(tiny_hbm2(), "mask");
  tell(dram, 2, 1);
  // The turn that has begun is as long as it was; this tenant falls silent.
  dram.send(0, {.bank = 0, .row = 1, .tenant = 0});
  dram.send(1001, {.bank = 1, .row = 1, .tenant = 1});
  dram.run();
  dram.send(2000, {.bank = 0, .row = 1, .tenant = 1});  // the only one of its turn
  dram.send(2000, {.bank = 0, .row = 3, .tenant = 1});
  dram.send(2000, {.bank = 0, .row = 4, .tenant = 0});  // two of its turn
  dram.send(2000, {.bank = 0, .row = 5, .tenant = 0});
  dram.send(2000, {.bank = 0, .row = 6, .tenant = 0});
  dram.run();
  EXPECT_EQ(dram.order(), (Order{0, 1, 2, 4, 5, 3, 6}));
}

TEST(MaskScheduler, AFullSilverQueueSendsToNormal) {
  DramBench dram(eight_places(), "mask");
  for (std::uint32_t i = 0; i < 3; ++i) dram.send(0, {.bank = 0, .row = i + 1, .tenant = 0});
  EXPECT_EQ(dram.channel().waiting(), 3u);
  dram.run();
  EXPECT_EQ(dram.served(), 3u);
}

TEST(MaskScheduler, WritesHaveNoTurnIfAsked) {
  DramParameters p = eight_places();
  p.write_queue = 0;
  const auto has_room_beside_full_normal_queue = [&](const std::string& policy, bool write) {
    DramBench dram(p, policy);
    for (std::uint32_t row = 1; row <= 6; ++row) dram.send(0, {.bank = 0, .row = row, .tenant = 1});
    MemoryRequest request;  // of the tenant whose turn it is
    return dram.channel().room(request, write);
  };
  EXPECT_TRUE(has_room_beside_full_normal_queue("mask", true));
  EXPECT_FALSE(has_room_beside_full_normal_queue("{name: mask, writes: false}", true));
  EXPECT_TRUE(has_room_beside_full_normal_queue("{name: mask, writes: false}", false));
}

TEST(MaskScheduler, ATenantThatOnlyWritesIsSilentIfWritesHaveNoTurn) {
  const auto order = [](const std::string& policy) {
    DramParameters p = eight_places();
    p.write_queue = 0;
    DramBench dram(p, policy);
    for (std::int64_t at = 0; at <= 1000; at += 500)
      dram.send(at, {.bank = 1, .row = 1, .tenant = 0, .write = true});
    dram.send(1001, {.bank = 1, .row = 1, .tenant = 1});  // the first tenant's turn ends, or not
    dram.run();
    dram.send(2000, {.bank = 0, .row = 1, .tenant = 0});
    dram.send(2000, {.bank = 0, .row = 2, .tenant = 1});
    dram.run();
    return dram.order();
  };
  EXPECT_EQ(order("mask"), (Order{3, 4, 5}));
  EXPECT_EQ(order("{name: mask, writes: false}"), (Order{3, 5, 4}));
}

TEST(MaskScheduler, TheTurnGoesFirstAmongAllOrOnlyInItsBank) {
  const auto order = [](const std::string& policy, std::uint32_t bank_of_silver) {
    DramBench dram(eight_places(), policy);
    dram.send(0, {.bank = 0, .row = 1, .tenant = 1});
    dram.send(0, {.bank = bank_of_silver, .row = 2, .tenant = 0});
    dram.run();
    return dram.order();
  };
  EXPECT_EQ(order("mask", 4), (Order{1, 0}));
  EXPECT_EQ(order("{name: mask, first: bank}", 4), (Order{0, 1}));
  EXPECT_EQ(order("{name: mask, first: bank}", 0), (Order{1, 0}));
}

TEST(MaskScheduler, RowsStayOpenForNormalIfAskedButNotBeforeAWalk) {
  for (const std::string first : {"all", "bank"}) {
    DramBench dram(eight_places(), "{name: mask, open_rows: true, first: " + first + "}");
    dram.send(0, {.bank = 0, .row = 1, .tenant = 1});
    dram.send(1, {.bank = 0, .row = 1, .tenant = 1});
    dram.send(1, {.bank = 0, .row = 2, .tenant = 0});
    dram.run();
    EXPECT_EQ(dram.order(), (Order{0, 1, 2})) << first;
    dram.send(500, {.bank = 0, .row = 1, .tenant = 1});
    dram.send(501, {.bank = 0, .row = 1, .tenant = 1});
    dram.send(501, {.bank = 0, .row = 3, .tenant = 0, .walk_level = 4});
    dram.run();
    EXPECT_EQ(dram.order(), (Order{0, 1, 2, 5, 3, 4})) << first;
  }
}

TEST(MaskScheduler, AWalkGoesFirstAmongAllEvenIfDataDoSoInTheirBankOnly) {
  DramBench dram(eight_places(), "{name: mask, first: bank}");
  dram.send(0, {.bank = 0, .row = 1, .tenant = 1});
  dram.send(0, {.bank = 4, .row = 2, .tenant = 1, .walk_level = 4});
  dram.run();
  EXPECT_EQ(dram.order(), (Order{1, 0}));
}

}  // namespace
}  // namespace lockstep::test::mask_scheduler_test
