#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/driver/tree_layout.hpp"
#include "tests/unit/driver/managed_page_literal.hpp"
#include "tests/unit/driver/prefetch/prefetch_bench.hpp"

namespace lockstep::tree_test {
namespace {

using testing::ElementsAre;

/// First page of block b of the paper, which counts from 1.
constexpr std::uint64_t block(std::uint64_t b) {
  return (b - 1) * 16;
}

TEST(TreePrefetcher, FirstExampleOfThePaper) {
  PrefetchBench tree("tree", 512);
  for (const std::uint64_t b : {1, 3, 5, 7}) {
    tree.fault({block(b)});
    EXPECT_THAT(tree.blocks(), ElementsAre(b));
    EXPECT_THAT(tree.transfers(), ElementsAre(-4, 60));
  }
  tree.fault({block(2)});
  EXPECT_THAT(tree.blocks(), ElementsAre(2, 4, 6, 8));
  EXPECT_THAT(tree.transfers(), ElementsAre(-4, 60, 64, 64, 64));
  // Five blocks; (b1 ... b4) by b4; the whole by b6 and b8.
  EXPECT_THAT(tree.decisions(), ElementsAre(5, 0, 1, 1, 0, 0));
}

TEST(TreePrefetcher, SecondExampleOfThePaper) {
  PrefetchBench tree("tree", 512);
  tree.fault({block(1)});
  tree.fault({block(3)});
  EXPECT_THAT(tree.blocks(), ElementsAre(3));
  tree.fault({block(2)});
  EXPECT_THAT(tree.blocks(), ElementsAre(2, 4));
  EXPECT_THAT(tree.transfers(), ElementsAre(-4, 60, 64));
  tree.fault({block(5)});
  EXPECT_THAT(tree.blocks(), ElementsAre(5, 6, 7, 8));
  EXPECT_THAT(tree.decisions(), ElementsAre(4, 0, 1, 1, 0, 0));
  EXPECT_THAT(tree.transfers(), ElementsAre(-4, 252));
}

TEST(TreePrefetcher, LargestPrefetchIs1020KiB) {
  PrefetchBench tree("tree", 2048);
  tree.set(0, 256, PagePlace::gpu);
  EXPECT_THAT(tree.fault({256}), ElementsAre(PageRange{256_page, 256}));
  EXPECT_THAT(tree.transfers(), ElementsAre(-4, 1020));
  EXPECT_THAT(tree.decisions(), ElementsAre(1, 0, 0, 0, 0, 1));
}

TEST(TreePrefetcher, ExactlyHalfIsNotEnough) {
  PrefetchBench tree("tree", 128 * 2);
  tree.fault({block(1)});
  EXPECT_THAT(tree.fault({block(3)}), ElementsAre(PageRange{32_page, 16}));
}

TEST(TreePrefetcher, OnePageMoreThanHalfIs) {
  PrefetchBench tree("tree", 128);
  tree.set(block(2), 1, PagePlace::gpu);
  EXPECT_THAT(tree.fault({block(1)}), ElementsAre(PageRange{0_page, 16}, PageRange{17_page, 15}));
}

TEST(TreePrefetcher, FaultsOfABatchAreConsideredTogether) {
  PrefetchBench tree("tree", 512);
  tree.fault({block(1), block(2), block(3)});
  EXPECT_THAT(tree.blocks(), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(tree.decisions(), ElementsAre(3, 0, 1, 0, 0, 0));
  EXPECT_THAT(tree.transfers(), ElementsAre(-4, -64, -64, 124));
}

TEST(TreePrefetcher, EveryTreeIsItsOwn) {
  PrefetchBench tree("tree", 4096);
  tree.set(0, 512, PagePlace::gpu);
  EXPECT_THAT(tree.fault({512, 600}),
              ElementsAre(PageRange{512_page, 16}, PageRange{592_page, 16}));
}

TEST(TreePrefetcher, PagesInFlightCountAsValidAndAreSkipped) {
  PrefetchBench tree("tree", 128);
  tree.set(8, 4, PagePlace::arriving);
  tree.set(block(2), 2, PagePlace::arriving);
  tree.set(20, 1, PagePlace::leaving);
  EXPECT_THAT(tree.fault({0}), ElementsAre(PageRange{0_page, 8}, PageRange{12_page, 4},
                                           PageRange{18_page, 2}, PageRange{21_page, 11}));
}

TEST(TreePrefetcher, LeavesBehindTheAllocationHaveNoPages) {
  PrefetchBench tree("tree", 192 - 8);  // a tree of 256 KiB over 46 pages
  EXPECT_THAT(tree.fault({0, 16}), ElementsAre(PageRange{0_page, 32}));
  EXPECT_THAT(tree.fault({32}), ElementsAre(PageRange{32_page, 14}));
}

TEST(TreePrefetcher, ThresholdIsAParameter) {
  PrefetchBench tree("{name: tree, threshold: 0.25}", 256);
  EXPECT_THAT(tree.fault({0}), ElementsAre(PageRange{0_page, 64}));
  PrefetchBench never("{name: tree, threshold: 1}", 256);
  never.set(16, 48, PagePlace::gpu);
  EXPECT_THAT(never.fault({0}), ElementsAre(PageRange{0_page, 16}));
}

TEST(TreeLayout, AllocationIsCutIntoFullTreesAndASmallerOne) {
  Residency residency;
  const Allocation& a = residency.allocation(
      residency.add(TenantId{0}, BufferId{0}, VirtualPage{0}, (4096 + 192) / 4));
  const auto leaves = [&](std::uint64_t page) {
    return TreeLayout::around(a.first + page, a).leaves;
  };
  EXPECT_EQ(leaves(0), 32u);     // 2 MiB
  EXPECT_EQ(leaves(1023), 32u);  // 2 MiB
  EXPECT_EQ(leaves(1024), 4u);   // 192 KiB are rounded up to 256
  const TreeLayout last = TreeLayout::around(a.first + 1071, a);
  EXPECT_EQ(last.first, a.first + 1024);
  EXPECT_EQ(last.pages_of(2), (PageRange{a.first + 1056, 16}));
  EXPECT_EQ(last.pages_of(3).count, 0u);
}

}  // namespace
}  // namespace lockstep::tree_test
