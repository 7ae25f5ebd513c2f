#include "models/driver/prefetch/split.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep::split_test {
namespace {

using testing::ElementsAre;
using Faults = std::vector<ManagedPage>;

std::vector<PlannedTransfer> split(const std::vector<PageRange>& moves, const Faults& faults,
                                   FaultSplit mode) {
  std::vector<PlannedTransfer> transfers;
  split_moves(moves, faults, mode, transfers);
  return transfers;
}
PlannedTransfer fault(ManagedPage first, std::uint64_t count) {
  return {{first, count}, true};
}
PlannedTransfer rest(ManagedPage first, std::uint64_t count) {
  return {{first, count}, false};
}

TEST(Split, FaultAtTheStartIsAPageAndTheRest) {
  for (const FaultSplit mode : {FaultSplit::upto, FaultSplit::isolate}) {
    EXPECT_THAT(split({{0, 16}}, {0}, mode), ElementsAre(fault(0, 1), rest(1, 15)));
  }
}

TEST(Split, FaultInTheMiddle) {
  EXPECT_THAT(split({{0, 16}}, {5}, FaultSplit::upto), ElementsAre(fault(0, 6), rest(6, 10)));
  EXPECT_THAT(split({{0, 16}}, {5}, FaultSplit::isolate),
              ElementsAre(fault(5, 1), rest(0, 5), rest(6, 10)));
}

TEST(Split, TwoFaults) {
  EXPECT_THAT(split({{0, 16}}, {3, 9}, FaultSplit::upto),
              ElementsAre(fault(0, 4), fault(4, 6), rest(10, 6)));
  EXPECT_THAT(split({{0, 16}}, {3, 9}, FaultSplit::isolate),
              ElementsAre(fault(3, 1), fault(9, 1), rest(0, 3), rest(4, 5), rest(10, 6)));
}

TEST(Split, FaultAtTheEndLeavesNothingToPrefetch) {
  EXPECT_THAT(split({{0, 16}}, {15}, FaultSplit::upto), ElementsAre(fault(0, 16)));
  EXPECT_THAT(split({{0, 2}}, {0, 1}, FaultSplit::isolate), ElementsAre(fault(0, 1), fault(1, 1)));
}

TEST(Split, EveryRangeIsCutByItsOwnFaults) {
  EXPECT_THAT(split({{0, 2}, {10, 4}, {20, 3}}, {1, 20}, FaultSplit::upto),
              ElementsAre(fault(0, 2), rest(10, 4), fault(20, 1), rest(21, 2)));
}

}  // namespace
}  // namespace lockstep::split_test
