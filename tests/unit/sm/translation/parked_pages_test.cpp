#include "models/sm/translation/parked_pages.hpp"

#include <gtest/gtest.h>

#include "tests/unit/sm/machine/sm_world.hpp"

namespace lockstep::parked_pages_test {
namespace {

TlbKey key(std::uint64_t page) {
  return {TenantId{0}, page};
}

Access access_of_lines(unsigned lines) {
  Access access;
  access.groups = static_cast<std::uint8_t>(lines);
  for (unsigned g = 0; g < lines; ++g) access.group[g].line = g * page_bytes;
  return access;
}

TEST(ParkedPages, LinesLeaveInTheOrderInWhichTheyCame) {
  ParkedPages pages(8);
  Access first = access_of_lines(1), second = access_of_lines(1);
  first.pc = 1;
  second.pc = 2;
  const std::uint16_t miss = pages.take_miss(key(7));
  pages.park(miss, first, 0);
  pages.park(miss, second, 0);
  EXPECT_EQ(pages.access_of(pages.front(miss)).pc, 1u);
  pages.pop(miss);
  EXPECT_EQ(pages.access_of(pages.front(miss)).pc, 2u);
}

TEST(ParkedPages, AnAccessIsCopiedOnceAndGoneWithItsLastHolder) {
  ParkedPages pages(8);
  Access access = access_of_lines(2);
  const std::uint16_t a = pages.take_miss(key(7)), b = pages.take_miss(key(8));
  pages.park(a, access, 0);
  pages.park(b, access, 1);
  EXPECT_EQ(pages.parked_accesses(), 1u);
  EXPECT_FALSE(pages.pop(a));
  EXPECT_FALSE(pages.release(access.parked));  // the queue
  EXPECT_TRUE(pages.pop(b));
  EXPECT_EQ(pages.parked_accesses(), 0u);
}

TEST(ParkedPages, OnlyPagesThatAreAskedForTakeAPlace) {
  ParkedPages pages(1);
  const std::uint16_t miss = pages.take_miss(key(7));
  pages.set_state(miss, PageMiss::State::asked);
  EXPECT_TRUE(pages.full());
  pages.set_state(miss, PageMiss::State::refused);
  EXPECT_FALSE(pages.full());
}

TEST(ParkedPages, PagesDrainInTheOrderOfTheirAnswers) {
  ParkedPages pages(8);
  const std::uint16_t a = pages.take_miss(key(7)), b = pages.take_miss(key(8));
  pages.set_state(b, PageMiss::State::draining);
  pages.set_state(a, PageMiss::State::draining);
  EXPECT_EQ(pages.draining().front(), b);
  pages.give_back_miss(b);
  EXPECT_EQ(pages.draining().front(), a);
  EXPECT_EQ(pages.find_miss(key(8)), ParkedPages::none);
}

TEST(ParkedPages, AWarpWaitsForItsLinesOfRefusedPagesAndForNoPrefetch) {
  ParkedPages pages(8);
  Access load = access_of_lines(1), prefetch = access_of_lines(1);
  load.warp = 3;
  prefetch.warp = 5;
  prefetch.kind = Access::Kind::prefetch;
  const std::uint16_t miss = pages.take_miss(key(7));
  pages.park(miss, prefetch, 0);
  pages.set_refused_since(miss, SmCycle{10});
  EXPECT_EQ(pages.warps_of_refused(), 0u);
  pages.park(miss, load, 0);
  EXPECT_EQ(pages.warps_of_refused(), 1u << 3);
  pages.pop(miss);
  EXPECT_EQ(pages.warps_of_refused(), 1u << 3);
  pages.pop(miss);
  EXPECT_EQ(pages.warps_of_refused(), 0u);
}

TEST(ParkedPages, RestoredTheyHoldTheSame) {
  ParkedPages pages(8), other(8);
  Access access = access_of_lines(1);
  access.kind = Access::Kind::store;
  access.data[3] = std::byte{9};
  const std::uint16_t miss = pages.take_miss(key(7));
  pages.set_state(miss, PageMiss::State::asked);
  pages.park(miss, access, 0);
  save_and_restore(pages, other);
  ASSERT_EQ(other.find_miss(key(7)), miss);
  EXPECT_EQ(other.asked(), 1u);
  EXPECT_EQ(other.access_of(other.front(miss)).kind, Access::Kind::store);
}

}  // namespace
}  // namespace lockstep::parked_pages_test
