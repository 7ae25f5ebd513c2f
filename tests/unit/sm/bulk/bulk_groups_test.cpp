/// Groups of bulk stores.
#include "models/sm/bulk/bulk_groups.hpp"

#include <gtest/gtest.h>

namespace lockstep::bulk_groups_test {
namespace {

constexpr WarpSlot warp{3};
constexpr std::uint32_t block = 7;

TEST(BulkGroups, AWaitIsForAllButTheNewest) {
  BulkGroups groups(8);
  const auto first = groups.begin(warp, block);
  groups.commit(warp, block);
  const auto second = groups.begin(warp, block);
  groups.commit(warp, block);
  EXPECT_TRUE(groups.is_through(warp, block, 2, false));
  EXPECT_FALSE(groups.is_through(warp, block, 1, false));
  groups.read(warp, block, first);
  EXPECT_TRUE(groups.is_through(warp, block, 1, true));
  EXPECT_FALSE(groups.is_through(warp, block, 1, false)) << "read, but not written";
  groups.written(warp, block, first);
  EXPECT_TRUE(groups.is_through(warp, block, 1, false));
  EXPECT_FALSE(groups.is_through(warp, block, 0, true));
  groups.read(warp, block, second);
  groups.written(warp, block, second);
  EXPECT_TRUE(groups.is_through(warp, block, 0, false));
}

TEST(BulkGroups, WhatIsNotCommittedIsNotWaitedFor) {
  BulkGroups groups(8);
  groups.begin(warp, block);
  EXPECT_TRUE(groups.is_through(warp, block, 0, false));
  groups.commit(warp, block);
  EXPECT_FALSE(groups.is_through(warp, block, 0, false));
}

TEST(BulkGroups, EmptyGroupsCount) {
  BulkGroups groups(8);
  groups.begin(warp, block);
  for (unsigned i = 0; i < 3; ++i) groups.commit(warp, block);
  EXPECT_TRUE(groups.is_through(warp, block, 3, false));
  EXPECT_FALSE(groups.is_through(warp, block, 2, false));
}

TEST(BulkGroups, WhatAnEarlierBlockLeftUnderWayIsNobodysAnyMore) {
  BulkGroups groups(8);
  const auto old = groups.begin(warp, block);
  groups.commit(warp, block);
  EXPECT_TRUE(groups.is_through(warp, block + 1, 0, false));
  const auto own = groups.begin(warp, block + 1);
  groups.commit(warp, block + 1);
  groups.written(warp, block, old);
  groups.read(warp, block + 1, own);
  EXPECT_FALSE(groups.is_through(warp, block + 1, 0, false));
  groups.written(warp, block + 1, own);
  EXPECT_TRUE(groups.is_through(warp, block + 1, 0, false));
}

}  // namespace
}  // namespace lockstep::bulk_groups_test
