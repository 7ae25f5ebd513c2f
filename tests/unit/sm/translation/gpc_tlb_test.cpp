/// The TLB of a graphics processing cluster: what it finds, for how long, and what it must forget.
#include "models/sm/translation/gpc_tlb.hpp"

#include <gtest/gtest.h>

#include "models/sm/translation/translation.hpp"
#include "tests/unit/sm/machine/sm_world.hpp"

namespace lockstep::gpc_tlb_test {
namespace {

constexpr auto writable = PageTableEntry::present | PageTableEntry::writable;

GpcTlbParameters of_entries(std::uint32_t base, std::uint32_t large) {
  auto parameters = defaults<GpcTlbParameters>();
  parameters.enabled = true;
  parameters.entries = base;
  parameters.large_entries = large;
  return parameters;
}

TlbKey key_of(std::uint64_t page, std::uint16_t tenant = 0) {
  return TlbKey::base({TenantId{tenant}, VirtualPage{page}});
}

TEST(GpcTlb, FindsNothingUnlessItIsThere) {
  GpcTlb tlb(defaults<GpcTlbParameters>());
  tlb.fill(key_of(1), PageTableEntry::of(0x1000, writable));
  EXPECT_FALSE(tlb.find(key_of(1)).has_value());
  EXPECT_FALSE(tlb.drop(key_of(1)));
}

TEST(GpcTlb, ReplacesThePageThatWasUsedLeastLately) {
  GpcTlb tlb(of_entries(2, 1));
  for (std::uint64_t page : {1, 2})
    tlb.fill(key_of(page), PageTableEntry::of(page << 12, writable));
  EXPECT_TRUE(tlb.find(key_of(1)).has_value());
  tlb.fill(key_of(3), PageTableEntry::of(0x3000, writable));
  EXPECT_TRUE(tlb.find(key_of(1)).has_value());
  EXPECT_FALSE(tlb.find(key_of(2)).has_value());
}

TEST(GpcTlb, ALargePageTakesOneEntryOrOneForEachOfItsPages) {
  const PageTableEntry large = PageTableEntry::of(0x200000, writable | PageTableEntry::large);
  GpcTlb one(of_entries(1, 1)), each(of_entries(1, 0));
  one.fill(key_of(513), large);
  EXPECT_TRUE(one.find(key_of(512 + 511)).has_value());
  each.fill(key_of(513), large);
  EXPECT_FALSE(each.find(key_of(514)).has_value());
  ASSERT_TRUE(each.find(key_of(513)).has_value());
  EXPECT_EQ(each.find(key_of(513))->address(), 0x201000u);
  EXPECT_FALSE(each.find(key_of(513))->is(PageTableEntry::large));
}

TEST(GpcTlb, FlushesOneTenant) {
  GpcTlb tlb(of_entries(4, 1));
  tlb.fill(key_of(1, 0), PageTableEntry::of(0x1000, writable));
  tlb.fill(key_of(1, 1), PageTableEntry::of(0x2000, writable));
  EXPECT_EQ(tlb.flush(TenantId{0}), 1u);
  EXPECT_FALSE(tlb.find(key_of(1, 0)).has_value());
  EXPECT_TRUE(tlb.find(key_of(1, 1)).has_value());
}

class TranslationTest : public testing::Test {
 protected:
  TranslationTest()
      : world("", [](SmSetup& setup) {
          setup.vm.l1_tlb.entries = 1;
          setup.vm.gpc_tlb = of_entries(8, 1);
        }) {
    world.enter_block(32);
  }
  Translation::Lookup look_up(std::uint64_t page, Access::Kind kind = Access::Kind::load) {
    Access access;
    access.kind = kind;
    access.groups = 1;
    access.group[0] = {.line = page * page_bytes, .lanes = 1, .sectors = 1};
    return translation.look_up(access, 0, SmCycle(20));
  }
  /// The GMMU says where the page is, as if a prefetch had asked.
  void answer(std::uint64_t page, std::uint64_t flags = writable) {
    TranslationAnswer answer;
    answer.page = page;
    answer.entry = PageTableEntry::of((page + 100) * page_bytes, flags);
    translation.on_answer(answer, SmCycle(10));
  }
  bool in_l1(std::uint64_t page) {
    return translation.find(TenantId{0}, VirtualAddress{page * page_bytes}, false);
  }
  std::uint64_t hits() const { return world.statistics.tenant[0].gpc_tlb_hits.value(); }

  SmWorld world;
  ParkedLog log;
  Translation translation{world.sm, log};
};

TEST_F(TranslationTest, APageThatOnlyTheGpcHasIsFoundAndStandsInTheL1TlbAgain) {
  answer(5);
  answer(6);
  EXPECT_FALSE(in_l1(5));
  EXPECT_EQ(look_up(5), Translation::Lookup::found_behind);
  EXPECT_TRUE(in_l1(5));
  EXPECT_EQ(translation.physical(VirtualAddress{5 * page_bytes + 128}).value(),
            105 * page_bytes + 128);
  EXPECT_EQ(hits(), 1u);
}

TEST_F(TranslationTest, AStoreIsToldOnceAndNeedsPermission) {
  answer(5);
  answer(7, PageTableEntry::present);
  answer(6);
  world.forget_sent();
  EXPECT_EQ(look_up(5, Access::Kind::store), Translation::Lookup::found_behind);
  EXPECT_EQ(world.sent(SmWorld::gmmu).size(), 1u) << "the first store under the entry";
  EXPECT_EQ(look_up(6), Translation::Lookup::found_behind);  // takes its place in the L1 TLB
  EXPECT_EQ(look_up(5, Access::Kind::store), Translation::Lookup::found_behind);
  EXPECT_EQ(world.sent(SmWorld::gmmu).size(), 1u) << "which is known to be written by now";
  EXPECT_EQ(look_up(7, Access::Kind::store), Translation::Lookup::parked);
}

TEST_F(TranslationTest, WhatIsShotDownIsForgottenBehindToo) {
  answer(5);
  answer(6);
  PageSpan span;
  span.page = 5;
  span.count = 1;
  translation.shoot_down(span, SmCycle(15));
  EXPECT_EQ(look_up(5), Translation::Lookup::parked);
  EXPECT_EQ(world.statistics.tenant[0].tlb_shot_down.value(), 1u);
  translation.on_flush(TenantId{0});
  EXPECT_EQ(look_up(6), Translation::Lookup::parked);
}

}  // namespace
}  // namespace lockstep::gpc_tlb_test
