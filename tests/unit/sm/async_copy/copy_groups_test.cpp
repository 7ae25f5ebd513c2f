#include "models/sm/async_copy/copy_groups.hpp"

#include <gtest/gtest.h>

#include <random>
#include <sstream>
#include <vector>

namespace lockstep::copy_groups_test {
namespace {

constexpr WarpSlot warp{2};
constexpr SmCycle at(std::int64_t cycle) {
  return SmCycle{cycle};
}

TEST(CopyGroups, AWarpWithoutCopiesNeedNotWait) {
  CopyGroups groups(4);
  EXPECT_EQ(groups.through(warp, 0, true, at(7)), at(7));
}

TEST(CopyGroups, TheNewestGroupsMayBeUnderWay) {
  CopyGroups groups(4);
  const auto first = groups.begin(warp);
  groups.commit(warp, true, at(1));
  const auto second = groups.begin(warp);
  groups.commit(warp, true, at(2));
  EXPECT_EQ(groups.through(warp, 1, false, at(3)), no_cycle);
  EXPECT_EQ(groups.through(warp, 2, false, at(3)), at(3));
  groups.end(warp, first, at(50));
  EXPECT_EQ(groups.through(warp, 1, false, at(40)), at(50)) << "its bytes can be used from then on";
  EXPECT_EQ(groups.through(warp, 0, false, at(60)), no_cycle);
  groups.end(warp, second, at(61));
  EXPECT_EQ(groups.through(warp, 0, false, at(70)), at(70));
}

TEST(CopyGroups, AnEmptyGroupCounts) {
  CopyGroups groups(4);
  groups.begin(warp);
  groups.commit(warp, true, at(1));
  groups.commit(warp, true, at(2));
  EXPECT_EQ(groups.through(warp, 1, false, at(3)), no_cycle);
  EXPECT_EQ(groups.through(warp, 2, false, at(3)), at(3));
}

TEST(CopyGroups, CopiesOfNoGroupAreWaitedForByThoseWhoSaySo) {
  CopyGroups groups(4);
  const auto open = groups.begin(warp);
  EXPECT_EQ(groups.through(warp, 0, false, at(3)), at(3));
  EXPECT_EQ(groups.through(warp, 0, true, at(3)), no_cycle);
  groups.end(warp, open, at(9));
  EXPECT_EQ(groups.through(warp, 0, true, at(3)), at(9));
}

TEST(CopyGroups, AfterADivergentCommitAllAreWaitedFor) {
  CopyGroups groups(4);
  const auto copy = groups.begin(warp);
  groups.commit(warp, false, at(1));
  groups.commit(warp, true, at(1));
  EXPECT_EQ(groups.through(warp, 5, false, at(2)), no_cycle);
  groups.end(warp, copy, at(3));
  EXPECT_EQ(groups.through(warp, 5, false, at(4)), at(4));
  groups.begin(warp);
  groups.commit(warp, true, at(5));
  EXPECT_EQ(groups.through(warp, 1, false, at(6)), at(6)) << "none is left: groups count again";
}

TEST(CopyGroups, WarpsDoNotWaitForEachOther) {
  CopyGroups groups(4);
  groups.begin(WarpSlot{1});
  EXPECT_EQ(groups.through(warp, 0, true, at(1)), at(1));
}

/// Copies that end in any order, against a plain list of them.
TEST(CopyGroups, AgreeWithAListOfCopies) {
  std::mt19937 dice(5);
  struct Copy {
    std::uint16_t number;
    std::size_t group;
    bool ended = false;
    std::int64_t ready = 0;
  };
  for (unsigned run = 0; run < 200; ++run) {
    CopyGroups groups(4);
    std::vector<Copy> copies;
    std::size_t group = 0;
    for (std::int64_t now = 1; now < 120; ++now) {
      switch (dice() % 4) {
        case 0:
          copies.push_back({groups.begin(warp), group});
          break;
        case 1:
          groups.commit(warp, true, at(now));
          ++group;
          break;
        case 2:
          if (!copies.empty()) {
            Copy& copy = copies[dice() % copies.size()];
            if (copy.ended) break;
            copy.ended = true;
            copy.ready = now + static_cast<std::int64_t>(dice() % 20);
            groups.end(warp, copy.number, at(copy.ready));
          }
          break;
        default:
          break;
      }
      const auto newest = static_cast<std::uint32_t>(dice() % 4);
      bool waits = false;
      for (const Copy& copy : copies)
        if (copy.group + newest < group) waits |= !copy.ended || copy.ready > now;
      const SmCycle through = groups.through(warp, newest, false, at(now));
      ASSERT_EQ(through > at(now), waits) << "run " << run << ", cycle " << now;
    }
  }
}

TEST(CopyGroups, GoThroughACheckpoint) {
  CopyGroups groups(4), restored(4);
  const auto first = groups.begin(warp);
  groups.commit(warp, true, at(1));
  groups.begin(warp);
  std::stringstream bytes;
  Archive out = Archive::saving(bytes);
  groups.serialize(out);
  Archive in = Archive::restoring(bytes);
  restored.serialize(in);
  restored.end(warp, first, at(4));
  EXPECT_EQ(restored.through(warp, 0, false, at(5)), at(5));
  EXPECT_EQ(restored.through(warp, 0, true, at(5)), no_cycle);
}

TEST(CopyGroups, AMarkMeansTheCopiesBeforeIt) {
  CopyGroups groups(4);
  const auto before = groups.begin(warp);
  const auto mark = groups.mark(warp, at(1));
  const auto after = groups.begin(warp);
  EXPECT_EQ(groups.through_before(warp, mark, at(2)), no_cycle);
  groups.end(warp, before, at(9));
  EXPECT_EQ(groups.through_before(warp, mark, at(2)), at(9));
  EXPECT_EQ(groups.through_before(warp, mark, at(10)), at(10));
  EXPECT_EQ(groups.through(warp, 0, true, at(10)), no_cycle) << "the other one is under way";
  groups.end(warp, after, at(12));
  EXPECT_EQ(groups.through_before(warp, mark, at(20)), at(20));
}

TEST(CopyGroups, AMarkCutsNoGroupInTwo) {
  CopyGroups groups(4);
  const auto first = groups.begin(warp);
  groups.commit(warp, true, at(1));
  const auto second = groups.begin(warp);
  groups.mark(warp, at(1));
  const auto rest = groups.begin(warp);
  groups.commit(warp, true, at(2));
  EXPECT_EQ(groups.through(warp, 2, false, at(3)), at(3));
  groups.end(warp, first, at(5));
  EXPECT_EQ(groups.through(warp, 1, false, at(6)), at(6)) << "both parts of the second may run";
  EXPECT_EQ(groups.through(warp, 0, false, at(6)), no_cycle);
  groups.end(warp, rest, at(7));
  EXPECT_EQ(groups.through(warp, 0, false, at(8)), no_cycle);
  groups.end(warp, second, at(9));
  EXPECT_EQ(groups.through(warp, 0, false, at(10)), at(10));
}

TEST(CopyGroups, AMarkWithoutCopiesIsThrough) {
  CopyGroups groups(4);
  EXPECT_EQ(groups.through_before(warp, groups.mark(warp, at(3)), at(3)), at(3));
}

}  // namespace
}  // namespace lockstep::copy_groups_test
