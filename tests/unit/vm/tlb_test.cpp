/// Translation arrays: what is found, what is replaced, what is dropped.
#include "models/vm/tlb.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "models/vm/vm_parameters.hpp"

namespace lockstep::tlb_test {
namespace {

TlbKey key(std::uint64_t page, std::uint16_t tenant = 0) {
  return {TenantId{tenant}, page};
}
bool has(const TlbArray& array, TlbKey k) {
  return array.find(k) != TlbArray::none;
}

TEST(TlbArray, FindsWhatWasInsertedUnderItsTenant) {
  TlbArray array(4, 0);
  array.insert(key(7, 1), {0x5003});
  ASSERT_TRUE(has(array, key(7, 1)));
  EXPECT_EQ(array[array.find(key(7, 1))].value.bits, 0x5003u);
  EXPECT_FALSE(has(array, key(7, 2)));
  EXPECT_FALSE(has(array, key(8, 1)));
}

TEST(TlbArray, ReplacesTheLeastRecentlyUsed) {
  TlbArray array(3, 0);
  for (std::uint64_t page : {1, 2, 3}) array.insert(key(page), {});
  array.touch(array.find(key(1)));
  array.insert(key(4), {});
  EXPECT_FALSE(has(array, key(2)));
  EXPECT_TRUE(has(array, key(1)));
  EXPECT_TRUE(has(array, key(3)));
}

TEST(TlbArray, FindingAloneIsNoUse) {
  TlbArray array(2, 0);
  array.insert(key(1), {});
  array.insert(key(2), {});
  EXPECT_TRUE(has(array, key(1)));
  array.insert(key(3), {});
  EXPECT_FALSE(has(array, key(1)));
}

TEST(TlbArray, SetsReplaceOnTheirOwn) {
  TlbArray array(4, 2);  // even and odd pages
  for (std::uint64_t page : {0, 1, 2, 4, 6}) array.insert(key(page), {});
  EXPECT_TRUE(has(array, key(1)));
  EXPECT_FALSE(has(array, key(0)));
  EXPECT_FALSE(has(array, key(2)));
}

TEST(TlbArray, InsertingAgainReplacesTheValueAndForgetsTheMark) {
  TlbArray array(2, 0);
  array[array.insert(key(1), {1})].mark = 1;
  array.insert(key(2), {});
  array.insert(key(1), {3});
  EXPECT_EQ(array[array.find(key(1))].value.bits, 3u);
  EXPECT_EQ(array[array.find(key(1))].mark, 0u);
  array.insert(key(3), {});
  EXPECT_TRUE(has(array, key(1)));
}

TEST(TlbArray, DroppedPlacesAreTakenFirst) {
  TlbArray array(3, 0);
  for (std::uint64_t page : {1, 2, 3}) array.insert(key(page), {});
  EXPECT_TRUE(array.drop(key(3)));
  EXPECT_FALSE(array.drop(key(3)));
  array.insert(key(4), {});
  for (std::uint64_t page : {1, 2, 4}) EXPECT_TRUE(has(array, key(page))) << page;
}

TEST(TlbArray, DropsATenantOrAll) {
  TlbArray array(8, 4);
  for (std::uint64_t page : {1, 2, 3}) array.insert(key(page, 1), {});
  array.insert(key(1, 2), {});
  EXPECT_EQ(array.drop_tenant(TenantId{1}), 3u);
  EXPECT_TRUE(has(array, key(1, 2)));
  EXPECT_EQ(array.drop_all(), 1u);
  EXPECT_FALSE(has(array, key(1, 2)));
  EXPECT_EQ(array.drop_all(), 0u);
}

TEST(TlbArray, GoesOnAfterBeingRestored) {
  TlbArray array(3, 0), restored(3, 0);
  for (std::uint64_t page : {1, 2, 3}) array.insert(key(page), {page});
  array.touch(array.find(key(1)));
  std::stringstream stream;
  {
    Archive saving = Archive::saving(stream);
    array.serialize(saving);
  }
  Archive restoring = Archive::restoring(stream);
  restored.serialize(restoring);
  restored.insert(key(4), {});
  EXPECT_FALSE(has(restored, key(2)));
  EXPECT_EQ(restored[restored.find(key(1))].value.bits, 1u);
}

TEST(Tlb, LargePagesHaveTheirOwnEntries) {
  Tlb tlb(defaults<L1TlbParameters>());
  const auto first =
      PageTableEntry::of(0x4000'0000, PageTableEntry::present | PageTableEntry::large);
  const TenantPage beginning{TenantId{0}, VirtualPage{512 * 3}};
  const TenantPage within{TenantId{0}, beginning.page + 17};
  tlb.insert(within, first);
  EXPECT_FALSE(has(tlb.base, TlbKey::base(within)));
  EXPECT_TRUE(has(tlb.large, TlbKey::large(beginning)));
  EXPECT_EQ(Tlb::entry_within(first, within.page).address(), 0x4000'0000u + 17 * page_bytes);
  EXPECT_TRUE(tlb.drop({TenantId{0}, beginning.page + 1}));
  EXPECT_FALSE(has(tlb.large, TlbKey::large(beginning)));
}

}  // namespace
}  // namespace lockstep::tlb_test
