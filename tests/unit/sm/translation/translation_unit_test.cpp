/// Translation without a load-store unit: a test looks up the lines, and answers for the GMMU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/sm/l1/l1.hpp"
#include "models/sm/translation/shootdowns.hpp"
#include "models/sm/translation/translation.hpp"
#include "tests/unit/sm/machine/sm_world.hpp"

namespace lockstep::translation_unit_test {
namespace {

using testing::ElementsAre;
using Lookup = Translation::Lookup;

constexpr auto writable = PageTableEntry::present | PageTableEntry::writable;

class TranslationUnitTest : public testing::Test {
 protected:
  TranslationUnitTest() { world.enter_block(32); }  // whose accesses they are

  static Access access_to(std::uint64_t page, Access::Kind kind = Access::Kind::load) {
    Access access;
    access.kind = kind;
    access.groups = 1;
    access.group[0] = {.line = page * page_bytes + 256, .lanes = 1, .sectors = 1};
    return access;
  }
  void answer(std::uint64_t page, std::uint64_t frame, std::int64_t now,
              TranslationStatus status = TranslationStatus::found, std::uint64_t flags = writable) {
    TranslationAnswer answer;
    answer.page = page;
    answer.status = status;
    answer.entry = PageTableEntry::of(frame * page_bytes, flags);
    translation.on_answer(answer, SmCycle(now));
  }
  std::vector<MessageKind> told() {
    std::vector<MessageKind> kinds;
    for (const MessageHeader* message : world.sent(SmWorld::gmmu))
      kinds.push_back(static_cast<MessageKind>(message->kind));
    world.forget_sent();
    return kinds;
  }
  static VirtualAddress line_of(const Access& access) {
    return VirtualAddress(access.group[0].line);
  }

  SmWorld world;
  ParkedLog log;
  Translation translation{world.sm, log};
};

TEST_F(TranslationUnitTest, APageIsAskedForOnceAndItsLinesLeaveWhenItComes) {
  Access first = access_to(3), second = access_to(3);
  EXPECT_FALSE(translation.find(TenantId(0), line_of(first), false));
  EXPECT_EQ(translation.look_up(first, 0, SmCycle(10)), Lookup::parked);
  EXPECT_EQ(translation.look_up(second, 0, SmCycle(11)), Lookup::parked);
  EXPECT_THAT(told(), ElementsAre(MessageKind::translate));
  EXPECT_FALSE(translation.has_lines_to_leave());
  answer(3, 40, 100);
  ASSERT_TRUE(translation.has_lines_to_leave());
  const Translation::Line line = translation.next_line(SmCycle(101));
  EXPECT_EQ(line.physical, PhysicalAddress(40 * page_bytes + 256));
  EXPECT_FALSE(translation.line_left(SmCycle(101)));  // the queue still holds the access
  translation.next_line(SmCycle(102));
  EXPECT_FALSE(translation.line_left(SmCycle(102)));
  EXPECT_FALSE(translation.has_lines_to_leave());
  EXPECT_TRUE(translation.release(first.parked));
  EXPECT_TRUE(translation.find(TenantId(0), line_of(first), false));
  EXPECT_EQ(translation.physical(line_of(first)), PhysicalAddress(40 * page_bytes + 256));
}

TEST_F(TranslationUnitTest, ARefusedPageIsAskedForAgainAfterItsReplay) {
  Access access = access_to(3);
  translation.look_up(access, 0, SmCycle(10));
  answer(3, 0, 50, TranslationStatus::refused);
  told();
  translation.on_replay({.page = 3, .tenant = 0, .sm = 0, .reserved = 0}, SmCycle(900));
  EXPECT_THAT(told(), ElementsAre(MessageKind::translate));
  answer(3, 40, 1000);
  translation.next_line(SmCycle(1000));
  translation.line_left(SmCycle(1000));
  EXPECT_THAT(told(), ElementsAre(MessageKind::replayed));
  EXPECT_EQ(world.statistics.tenant[0].fault_page_cycles.value(), 950u);
}

TEST_F(TranslationUnitTest, FaultWaitsAreCountedFromRefusalToTranslation) {
  Access access = access_to(3);
  translation.look_up(access, 0, SmCycle(10));
  answer(3, 0, 50, TranslationStatus::refused);
  translation.count_fault_waits(SmCycle(80));
  EXPECT_EQ(world.statistics.tenant[0].fault_warp_cycles.value(), 30u);
  answer(3, 40, 100);
  translation.count_fault_waits(SmCycle(500));
  EXPECT_EQ(world.statistics.tenant[0].fault_warp_cycles.value(), 50u);
}

TEST_F(TranslationUnitTest, TheFirstStoreUnderAnEntryIsTold) {
  Access load = access_to(3), store = access_to(3, Access::Kind::store);
  translation.look_up(load, 0, SmCycle(10));
  answer(3, 40, 20);
  translation.next_line(SmCycle(21));
  translation.line_left(SmCycle(21));
  told();
  EXPECT_FALSE(translation.find(TenantId(0), line_of(store), true));
  EXPECT_EQ(translation.look_up(store, 0, SmCycle(30)), Lookup::found);
  EXPECT_THAT(told(), ElementsAre(MessageKind::page_written));
  EXPECT_TRUE(translation.find(TenantId(0), line_of(store), true));
}

TEST_F(TranslationUnitTest, AnInvalidPageIsAMistakeUnlessItWasPrefetched) {
  Access prefetch = access_to(3, Access::Kind::prefetch), load = access_to(4);
  prefetch.pc = 9;
  translation.look_up(prefetch, 0, SmCycle(10));
  translation.release(prefetch.parked);
  translation.look_up(load, 0, SmCycle(11));
  answer(3, 0, 50, TranslationStatus::invalid);
  EXPECT_THAT(log.ended, ElementsAre(9));
  EXPECT_THAT(log.mistaken, testing::IsEmpty());
  answer(4, 0, 51, TranslationStatus::invalid);
  EXPECT_THAT(log.mistaken, ElementsAre(4 * page_bytes + 256));
}

TEST_F(TranslationUnitTest, AnEndedTenantLeavesNothingParked) {
  Access own = access_to(3), others = access_to(3);
  others.tenant = 1;
  translation.look_up(own, 0, SmCycle(10));
  translation.look_up(others, 0, SmCycle(10));
  translation.release(own.parked);
  unsigned forgotten = 0;
  translation.drop_tenant(
      TenantId(0), [&](const Access&) { ++forgotten; }, SmCycle(20));
  EXPECT_EQ(forgotten, 1u);
  EXPECT_EQ(log.ended.size(), 1u);
  answer(3, 40, 50);
  EXPECT_FALSE(translation.has_lines_to_leave());
}

TEST_F(TranslationUnitTest, AShootdownIsAnsweredWhenTheRequestsToItsFrameAre) {
  L1 l1{world.sm};
  OutstandingStores stores;
  Shootdowns shootdowns{world.sm, l1, stores, translation};
  const std::uint16_t store = stores.add({.frame = frame_number(40 * page_bytes, false)});
  const PageTableEntry entry = PageTableEntry::of(40 * page_bytes, writable);
  PageSpan span;
  span.page = 3;
  span.count = 1;
  shootdowns.begin(span, std::as_bytes(std::span(&entry, 1)), SmCycle(10));
  EXPECT_THAT(told(), testing::IsEmpty());
  shootdowns.request_done(stores.remove(store).shootdown, SmCycle(60));
  EXPECT_THAT(told(), ElementsAre(MessageKind::shootdown_done));
  shootdowns.begin(span, std::as_bytes(std::span(&entry, 1)), SmCycle(70));
  EXPECT_THAT(told(), ElementsAre(MessageKind::shootdown_done));
}

}  // namespace
}  // namespace lockstep::translation_unit_test
