#include "models/driver/prefetch/split.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/driver/managed_page_literal.hpp"

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
    EXPECT_THAT(split({{0_page, 16}}, {0_page}, mode),
                ElementsAre(fault(0_page, 1), rest(1_page, 15)));
  }
}

TEST(Split, FaultInTheMiddle) {
  EXPECT_THAT(split({{0_page, 16}}, {5_page}, FaultSplit::upto),
              ElementsAre(fault(0_page, 6), rest(6_page, 10)));
  EXPECT_THAT(split({{0_page, 16}}, {5_page}, FaultSplit::isolate),
              ElementsAre(fault(5_page, 1), rest(0_page, 5), rest(6_page, 10)));
}

TEST(Split, TwoFaults) {
  EXPECT_THAT(split({{0_page, 16}}, {3_page, 9_page}, FaultSplit::upto),
              ElementsAre(fault(0_page, 4), fault(4_page, 6), rest(10_page, 6)));
  EXPECT_THAT(split({{0_page, 16}}, {3_page, 9_page}, FaultSplit::isolate),
              ElementsAre(fault(3_page, 1), fault(9_page, 1), rest(0_page, 3), rest(4_page, 5),
                          rest(10_page, 6)));
}

TEST(Split, FaultAtTheEndLeavesNothingToPrefetch) {
  EXPECT_THAT(split({{0_page, 16}}, {15_page}, FaultSplit::upto), ElementsAre(fault(0_page, 16)));
  EXPECT_THAT(split({{0_page, 2}}, {0_page, 1_page}, FaultSplit::isolate),
              ElementsAre(fault(0_page, 1), fault(1_page, 1)));
}

TEST(Split, EveryRangeIsCutByItsOwnFaults) {
  EXPECT_THAT(split({{0_page, 2}, {10_page, 4}, {20_page, 3}}, {1_page, 20_page}, FaultSplit::upto),
              ElementsAre(fault(0_page, 2), rest(10_page, 4), fault(20_page, 1), rest(21_page, 2)));
}

}  // namespace
}  // namespace lockstep::split_test
