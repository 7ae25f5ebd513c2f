#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/driver/eviction/eviction_bench.hpp"
#include "tests/unit/driver/managed_page_literal.hpp"

namespace lockstep::policies_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(LruEviction, PageThatWasUsedLongestAgoGoesFirst) {
  EvictionBench lru("{name: lru, granularity: page}");
  lru.add(100);
  lru.arrive(10_page, 4);
  lru.policy->accessed(10_page);
  lru.policy->accessed(12_page);
  EXPECT_THAT(lru.evict(1), ElementsAre(PageRange{11_page, 1}));
  EXPECT_THAT(lru.evict(2), ElementsAre(PageRange{10_page, 1}, PageRange{13_page, 1}));
  EXPECT_THAT(lru.evict(5), ElementsAre(PageRange{12_page, 1}));
  EXPECT_THAT(lru.evict(1), IsEmpty());
}

TEST(LruEviction, AccessToAPageThatHasLeftIsNoAccess) {
  EvictionBench lru("{name: lru, granularity: page}");
  lru.add(100);
  lru.arrive(1_page, 2);
  lru.leave(1_page);
  lru.policy->accessed(1_page);
  EXPECT_THAT(lru.evict(5), ElementsAre(PageRange{2_page, 1}));
}

TEST(LruEviction, BlocksLeaveTogether) {
  EvictionBench lru("{name: lru, granularity: block}");
  lru.add(64);
  lru.arrive(0_page, 40);
  lru.policy->accessed(3_page);
  EXPECT_THAT(lru.evict(1), ElementsAre(PageRange{16_page, 16}));
  EXPECT_THAT(lru.evict(9), ElementsAre(PageRange{0_page, 16}, PageRange{32_page, 8}));
}

TEST(LruEviction, LargePagesLeaveTogether) {
  EvictionBench lru("{name: lru, granularity: large}");
  lru.add(1100);
  lru.arrive(0_page, 512);
  lru.arrive(1000_page, 100);
  EXPECT_THAT(lru.evict(1), ElementsAre(PageRange{0_page, 512}));
  EXPECT_THAT(lru.evict(1), ElementsAre(PageRange{1000_page, 24}));
}

TEST(GranularEviction, PinnedPagesStay) {
  for (const std::string name : {"lru", "lfu"}) {
    EvictionBench policy("{name: " + name + ", granularity: block}");
    policy.add(64);
    policy.arrive(0_page, 32);
    policy.pin(5_page);
    EXPECT_THAT(policy.evict(1), ElementsAre(PageRange{0_page, 5}, PageRange{6_page, 10})) << name;
    EXPECT_THAT(policy.evict(1), ElementsAre(PageRange{16_page, 16})) << name;
    EXPECT_THAT(policy.evict(1), IsEmpty()) << name;
  }
}

TEST(LruEviction, RangesDoNotCrossAllocations) {
  EvictionBench lru("lru");
  const ManagedPage a = lru.add(512), b = lru.add(512);
  ASSERT_EQ(b, a + 512);
  lru.arrive(a + 496, 32);
  EXPECT_THAT(lru.evict(32), ElementsAre(PageRange{a + 496, 16}, PageRange{b, 16}));
}

TEST(LfuEviction, PageThatWasUsedLeastOftenGoesFirst) {
  EvictionBench lfu("{name: lfu, granularity: page}");
  lfu.add(100);
  lfu.arrive(10_page, 4);
  for (const ManagedPage page : {10_page, 10_page, 12_page, 11_page, 11_page, 13_page, 13_page})
    lfu.policy->accessed(page);
  EXPECT_THAT(lfu.evict(1), ElementsAre(PageRange{12_page, 1}));
  EXPECT_THAT(lfu.evict(2), ElementsAre(PageRange{10_page, 2}));
  EXPECT_THAT(lfu.evict(5), ElementsAre(PageRange{13_page, 1}));
  EXPECT_THAT(lfu.evict(1), IsEmpty());
}

TEST(LfuEviction, OfPagesUsedAsOftenTheLeastRecentGoesFirst) {
  EvictionBench lfu("{name: lfu, granularity: page}");
  lfu.add(100);
  lfu.arrive(10_page, 4);
  for (const ManagedPage page : {12_page, 10_page, 11_page}) lfu.policy->accessed(page);
  EXPECT_THAT(lfu.evict(2), ElementsAre(PageRange{10_page, 1}, PageRange{12_page, 1}));
}

TEST(LfuEviction, LargePagesLeaveTogetherUnlessSomethingElseIsSaid) {
  EvictionBench lfu("lfu");
  lfu.add(1100);
  lfu.arrive(0_page, 300);    // 300 uses of the first 2 MiB
  lfu.arrive(512_page, 400);  // 400 of the second
  lfu.arrive(1024_page, 10);
  for (int i = 0; i < 101; ++i) lfu.policy->accessed(7_page);
  EXPECT_THAT(lfu.evict(1), ElementsAre(PageRange{512_page, 400}));
}

TEST(LfuEviction, BlocksLeaveTogether) {
  EvictionBench lfu("{name: lfu, granularity: block}");
  lfu.add(64);
  lfu.arrive(0_page, 40);  // 16, 16 and 8 uses
  for (int i = 0; i < 9; ++i) lfu.policy->accessed(33_page);
  EXPECT_THAT(lfu.evict(1), ElementsAre(PageRange{0_page, 16}));
  EXPECT_THAT(lfu.evict(17), ElementsAre(PageRange{16_page, 24}));
}

TEST(LfuEviction, PageThatHasJustComeGoesLast) {
  EvictionBench lfu("{name: lfu, granularity: page}");
  lfu.add(100);
  lfu.arrive(1_page, 2);
  for (const ManagedPage page : {1_page, 2_page, 2_page}) lfu.policy->accessed(page);
  lfu.arrive(3_page);
  EXPECT_THAT(lfu.evict(1), ElementsAre(PageRange{1_page, 1}));
  lfu.arrive(4_page);
  EXPECT_THAT(lfu.evict(2), ElementsAre(PageRange{2_page, 2}));
  EXPECT_THAT(lfu.evict(1), ElementsAre(PageRange{4_page, 1}));
}

TEST(LfuEviction, NewcomersBeginWhereTheLastVictimsEnded) {
  EvictionBench lfu("{name: lfu, granularity: page}");
  lfu.add(100);
  lfu.arrive(1_page, 2);
  for (int i = 0; i < 3; ++i) lfu.policy->accessed(1_page), lfu.policy->accessed(2_page);
  EXPECT_THAT(lfu.evict(1), ElementsAre(PageRange{1_page, 1}));  // after 4 uses
  lfu.arrive(3_page);                                            // counts 5, page 2 has 4
  lfu.arrive(4_page);
  EXPECT_THAT(lfu.evict(1), ElementsAre(PageRange{2_page, 1}));
  lfu.arrive(2_page);
  EXPECT_THAT(lfu.evict(1), ElementsAre(PageRange{3_page, 1})) << "its uses before do not count";
}

TEST(LfuEviction, AccessToAPageThatHasLeftIsNoAccess) {
  EvictionBench lfu("{name: lfu, granularity: page}");
  lfu.add(100);
  lfu.policy->accessed(50_page);
  lfu.arrive(1_page, 2);
  lfu.leave(1_page);
  lfu.policy->accessed(1_page);
  EXPECT_THAT(lfu.evict(5), ElementsAre(PageRange{2_page, 1}));
}

TEST(NoEviction, NamesNothing) {
  EvictionBench none("none");
  none.add(64);
  none.arrive(0_page, 32);
  EXPECT_THAT(none.evict(1), IsEmpty());
  EXPECT_FALSE(none.policy->evicts());
}

TEST(RandomEviction, EveryGranuleHasTheSameChance) {
  std::vector<int> chosen(8);
  EvictionBench random("{name: random, granularity: block}");
  random.add(128);
  random.arrive(0_page, 128);
  for (int i = 0; i < 4000; ++i) {
    const auto victims = random.choose(1);
    ASSERT_EQ(victims.size(), 1u);
    ++chosen[victims[0].first.value() / 16];
  }
  for (const int count : chosen) EXPECT_NEAR(count, 500, 100);
}

TEST(RandomEviction, SeedAndNumberDecide) {
  EvictionBench one("random"), same("random"), other("random");
  other.set_seed(2);
  for (EvictionBench* bench : {&one, &same, &other}) {
    bench->add(2048);
    bench->arrive(0_page, 2048);
  }
  int different = 0;
  for (int i = 0; i < 40; ++i) {
    const auto victims = one.evict(16);
    EXPECT_EQ(victims, same.evict(16));
    different += victims != other.evict(16);
  }
  EXPECT_GT(different, 30);
}

TEST(SequentialLocalEviction, TakesTheBlockOfTheOldestPageWhateverElseIsInIt) {
  EvictionBench local("sequential-local");
  local.add(64);
  local.arrive(0_page, 48);
  for (ManagedPage page = 1_page; page < 16_page; ++page) local.policy->accessed(page);
  EXPECT_THAT(local.evict(1), ElementsAre(PageRange{0_page, 16}));
  for (ManagedPage page = 16_page; page < 31_page; ++page) local.policy->accessed(page);
  EXPECT_THAT(local.evict(17), ElementsAre(PageRange{16_page, 32}));
}

/// First page of block b, which counts from 1 as in the prefetcher's examples.
constexpr ManagedPage block(std::uint64_t b) {
  return ManagedPage{(b - 1) * 16};
}

TEST(TreeEviction, BlockOfAFullTreeGoesAlone) {
  EvictionBench tree("tree");
  tree.add(128);
  tree.arrive(0_page, 128);
  EXPECT_THAT(tree.evict(1), ElementsAre(PageRange{block(1), 16}));
}

TEST(TreeEviction, NodeBelowHalfLosesTheRest) {
  EvictionBench tree("tree");
  tree.add(128);  // 512 KiB, 8 blocks
  tree.arrive(0_page, 128);
  // Exactly half of (b1, b2), then of (b1 ... b4), is not below it.
  EXPECT_THAT(tree.evict(1), ElementsAre(PageRange{block(1), 16}));
  for (ManagedPage page = block(2); page < block(3); ++page) tree.policy->accessed(page);
  EXPECT_THAT(tree.evict(1), ElementsAre(PageRange{block(3), 16}));
  // With b4 gone (b1 ... b4) holds 64 of 256 KiB: b2 goes too; the whole is at 256 of 512 KiB.
  EXPECT_THAT(tree.evict(1), ElementsAre(PageRange{block(2), 16}, PageRange{block(4), 16}));
  // With b5 gone the whole holds 192 of 512 KiB.
  EXPECT_THAT(tree.evict(1), ElementsAre(PageRange{block(5), 64}));
  EXPECT_THAT(tree.evict(1), IsEmpty());
  // Four blocks; (b1 ... b4) by b2; the whole by b6, b7 and b8.
  EXPECT_THAT(tree.decided(), ElementsAre(4, 0, 1, 1, 0, 0));
}

TEST(TreeEviction, TreesFallAlone) {
  EvictionBench tree("tree");
  tree.add(1024);
  tree.arrive(0_page, 256);  // half of the first tree
  tree.arrive(512_page, 512);
  EXPECT_THAT(tree.evict(1), ElementsAre(PageRange{0_page, 256}));
}

TEST(TreeEviction, PinnedPagesStayAndCount) {
  EvictionBench tree("tree");
  tree.add(32);
  tree.arrive(0_page, 32);
  for (ManagedPage page = 4_page; page < 12_page; ++page) tree.pin(page);
  EXPECT_THAT(tree.evict(1), ElementsAre(PageRange{0_page, 4}, PageRange{12_page, 4}));
}

}  // namespace
}  // namespace lockstep::policies_test
