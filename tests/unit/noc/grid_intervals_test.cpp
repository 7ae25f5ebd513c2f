#include "models/noc/grid_intervals.hpp"

#include <gtest/gtest.h>

namespace lockstep::grid_intervals_test {
namespace {

/// One counter of each of two tenants, and what is taken of grids.
struct Counting {
  GridIntervals intervals;
  std::array<GridCounts, 2> counters{};

  void begin(std::uint32_t grid, std::uint16_t tenant) {
    intervals.begin({grid, tenant}, counters[tenant]);
  }
  void end(std::uint32_t grid, std::uint16_t tenant) {
    intervals.end({grid, tenant}, counters[tenant]);
  }
  void count(std::uint16_t tenant, std::uint64_t hits) { counters[tenant].l2_hits += hits; }
  /// "0: 5, 3: 1"
  std::string take() {
    std::vector<GridContribution> taken;
    intervals.take([&](std::uint16_t tenant) { return counters[tenant]; }, taken);
    std::string text;
    for (const GridContribution& one : taken)
      text += (text.empty() ? "" : ", ") + std::to_string(one.grid) + ": " +
              std::to_string(one.counts.l2_hits);
    return text;
  }
};

TEST(GridIntervals, AGridHasWhatItsTenantCountsWhileItRuns) {
  Counting of;
  of.count(0, 100);
  of.begin(4, 0);
  of.count(0, 5);
  of.count(1, 70);
  of.end(4, 0);
  of.count(0, 3);
  EXPECT_EQ(of.take(), "4: 5");
  EXPECT_EQ(of.take(), "");
}

TEST(GridIntervals, WhatIsTakenMeanwhileIsNotCountedAgain) {
  Counting of;
  of.begin(0, 0);
  of.count(0, 5);
  EXPECT_EQ(of.take(), "0: 5");
  EXPECT_EQ(of.take(), "");
  of.count(0, 2);
  of.end(0, 0);
  EXPECT_EQ(of.take(), "0: 2");
}

TEST(GridIntervals, GridsOfATenantThatOverlapBothHaveIt) {
  Counting of;
  of.begin(0, 0);
  of.count(0, 1);
  of.begin(1, 0);
  of.count(0, 10);
  of.end(0, 0);
  of.count(0, 100);
  of.end(1, 0);
  EXPECT_EQ(of.take(), "0: 11, 1: 110");
}

TEST(GridCounts, AddAndSubtractEveryNumber) {
  GridCounts one, sum;
  std::uint64_t n = 0;
  for (std::uint64_t& word : one.words()) word = ++n;
  EXPECT_FALSE(sum.any());
  sum += one;
  sum += one;
  sum -= one;
  EXPECT_TRUE(std::ranges::equal(sum.words(), one.words()));
  EXPECT_EQ(sum.cluster_place_cycles, n);
}

}  // namespace
}  // namespace lockstep::grid_intervals_test
