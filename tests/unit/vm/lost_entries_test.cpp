/// What is remembered of entries that a TLB lost to flushes and shootdowns.
#include "models/vm/lost_entries.hpp"

#include <gtest/gtest.h>

namespace lockstep::lost_entries_test {
namespace {

struct Sizes {
  std::uint32_t entries = 2, ways = 0, large_entries = 1, large_ways = 0;
};

TenantPage at(std::uint16_t tenant, std::uint64_t page) {
  return {TenantId{tenant}, VirtualPage{page}};
}

struct LostEntriesTest : testing::Test {
  void fill(std::uint16_t tenant, std::uint64_t page, std::uint64_t flags = 0) {
    lost.forget(at(tenant, page));
    tlb.insert(at(tenant, page), {PageTableEntry::present | flags});
  }
  void flush(TenantId tenant) {
    lost.flushed(tlb, tenant);
    if (tenant.valid()) {
      tlb.drop_tenant(tenant);
    } else {
      tlb.drop_all();
    }
  }
  void shoot_down(std::uint16_t tenant, std::uint64_t page) {
    lost.dropped(tlb, at(tenant, page), TlbLoss::shootdown);
    tlb.drop(at(tenant, page));
  }

  Tlb tlb{Sizes{}};
  LostEntries lost{Sizes{}};
};

TEST_F(LostEntriesTest, FlushLosesTheEntriesOfItsTenant) {
  fill(0, 5);
  fill(1, 5);
  flush(TenantId{0});
  EXPECT_EQ(lost.find(at(0, 5)), TlbLoss::flush);
  EXPECT_EQ(lost.find(at(1, 5)), std::nullopt);
  flush(TenantId::none());
  EXPECT_EQ(lost.find(at(1, 5)), TlbLoss::flush);
}

TEST_F(LostEntriesTest, EntryThatWasReplacedIsNotLost) {
  fill(0, 1);
  fill(0, 2);
  fill(0, 3);  // in the place of page 1
  flush(TenantId{0});
  EXPECT_EQ(lost.find(at(0, 1)), std::nullopt);
  EXPECT_EQ(lost.find(at(0, 2)), TlbLoss::flush);
  EXPECT_EQ(lost.find(at(0, 3)), TlbLoss::flush);
}

TEST_F(LostEntriesTest, AsManyAreKeptAsTheTlbHolds) {
  fill(0, 1);
  fill(0, 2);
  flush(TenantId{0});
  fill(0, 3);
  flush(TenantId{0});
  EXPECT_EQ(lost.find(at(0, 1)), std::nullopt);
  EXPECT_EQ(lost.find(at(0, 2)), TlbLoss::flush);
  EXPECT_EQ(lost.find(at(0, 3)), TlbLoss::flush);
}

TEST_F(LostEntriesTest, ShootdownLosesWhatIsThereOrWasUntilAFlush) {
  fill(0, 1);
  flush(TenantId{0});
  fill(0, 2);
  shoot_down(0, 1);
  shoot_down(0, 2);
  shoot_down(0, 3);
  EXPECT_EQ(lost.find(at(0, 1)), TlbLoss::shootdown);
  EXPECT_EQ(lost.find(at(0, 2)), TlbLoss::shootdown);
  EXPECT_EQ(lost.find(at(0, 3)), std::nullopt);
}

TEST_F(LostEntriesTest, EntryOfALargePageStandsForAllItsPages) {
  fill(0, 512, PageTableEntry::large);
  flush(TenantId{0});
  EXPECT_EQ(lost.find(at(0, 1023)), TlbLoss::flush);
  EXPECT_EQ(lost.find(at(0, 1024)), std::nullopt);
  lost.forget(at(0, 700));
  EXPECT_EQ(lost.find(at(0, 512)), std::nullopt);
}

TEST_F(LostEntriesTest, OtherPagesOfATenantHaveLostNothing) {
  fill(0, 1);
  flush(TenantId{0});
  lost.forget_tenant(TenantId{0});
  EXPECT_EQ(lost.find(at(0, 1)), std::nullopt);
}

}  // namespace
}  // namespace lockstep::lost_entries_test
