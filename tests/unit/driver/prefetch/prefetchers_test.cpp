#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/driver/prefetch/prefetch_bench.hpp"

namespace lockstep::prefetchers_test {
namespace {

using testing::ElementsAre;

TEST(NoPrefetcher, BringsOnlyWhatFaulted) {
  PrefetchBench none("none", 2048);
  EXPECT_THAT(none.fault({3, 4, 100}), ElementsAre(PageRange{3, 2}, PageRange{100, 1}));
  EXPECT_THAT(none.transfers(), ElementsAre(-4, -4, -4));
}

TEST(SequentialLocalPrefetcher, BringsTheBlockOfAFault) {
  PrefetchBench local("sequential-local", 2048);
  EXPECT_THAT(local.fault({21}), ElementsAre(PageRange{16, 16}));
  EXPECT_THAT(local.transfers(), ElementsAre(-24, 40));
}

TEST(SequentialLocalPrefetcher, FaultsOfABlockShareIt) {
  PrefetchBench local("sequential-local", 2048);
  EXPECT_THAT(local.fault({3, 9, 40}), ElementsAre(PageRange{0, 16}, PageRange{32, 16}));
  EXPECT_THAT(local.transfers(), ElementsAre(-16, -24, 24, -36, 28));
}

TEST(SequentialLocalPrefetcher, SkipsPagesThatAreThereOrOnTheirWay) {
  PrefetchBench local("sequential-local", 2048);
  local.set(2, 3, PagePlace::arriving);
  local.set(10, 1, PagePlace::gpu);
  local.set(15, 1, PagePlace::leaving);
  EXPECT_THAT(local.fault({1}), ElementsAre(PageRange{0, 2}, PageRange{5, 5}, PageRange{11, 4}));
}

TEST(SequentialLocalPrefetcher, StopsAtTheEndOfTheAllocation) {
  PrefetchBench local("sequential-local", 72);
  EXPECT_THAT(local.fault({17}), ElementsAre(PageRange{16, 2}));
}

TEST(SequentialLocalPrefetcher, PageThatIsJustLeavingMayFault) {
  PrefetchBench local("sequential-local", 64);
  local.set(5, 2, PagePlace::leaving);
  EXPECT_THAT(local.fault({5}), ElementsAre(PageRange{0, 6}, PageRange{7, 9}));
}

TEST(ZhengLocalPrefetcher, Brings512KiBFromTheFaultOn) {
  PrefetchBench zheng("zheng-local512k", 2048);
  EXPECT_THAT(zheng.fault({5}), ElementsAre(PageRange{5, 128}));
  EXPECT_THAT(zheng.transfers(), ElementsAre(-4, 508));
  EXPECT_THAT(zheng.fault({200, 250, 480}), ElementsAre(PageRange{200, 178}, PageRange{480, 32}));
}

TEST(ZhengSequentialPrefetcher, StreamsFromTheLowestAddressWhereverFaultsAre) {
  PrefetchBench zheng("zheng-seq", 2048);
  EXPECT_THAT(zheng.fault({300}), ElementsAre(PageRange{0, 128}, PageRange{300, 1}));
  EXPECT_THAT(zheng.transfers(), ElementsAre(512, -4));
  EXPECT_THAT(zheng.fault({400}), ElementsAre(PageRange{128, 128}, PageRange{400, 1}));
  // Beyond page 300, which is there.
  EXPECT_THAT(zheng.fault({500}),
              ElementsAre(PageRange{256, 44}, PageRange{301, 84}, PageRange{500, 1}));
  EXPECT_THAT(zheng.fault({511}),
              ElementsAre(PageRange{385, 15}, PageRange{401, 99}, PageRange{501, 11}));
}

TEST(ZhengSequentialPrefetcher, FaultThatTheStreamReachesIsOneOfItsPages) {
  PrefetchBench zheng("{name: zheng-seq, pages: 8}", 2048);
  EXPECT_THAT(zheng.fault({5}), ElementsAre(PageRange{0, 8}));
  EXPECT_THAT(zheng.fault({16}), ElementsAre(PageRange{8, 9}));
}

TEST(ZhengSequentialPrefetcher, GoesOnForEveryFaultOfABatch) {
  PrefetchBench zheng("{name: zheng-seq, pages: 8}", 2048);
  EXPECT_THAT(zheng.fault({10, 100}), ElementsAre(PageRange{0, 16}, PageRange{100, 1}));
}

TEST(ZhengSequentialPrefetcher, BringsBackWhatHasLeftFirst) {
  PrefetchBench zheng("{name: zheng-seq, pages: 4}", 2048);
  zheng.set(0, 100, PagePlace::gpu);
  zheng.set(20, 2, PagePlace::host);
  zheng.set(30, 1, PagePlace::leaving);
  EXPECT_THAT(zheng.fault({200}),
              ElementsAre(PageRange{20, 2}, PageRange{100, 2}, PageRange{200, 1}));
}

TEST(RandomPrefetcher, BringsOneMorePageOfTheSame2MiB) {
  PrefetchBench random("random", 8192);
  bool below = false, above = false;
  for (int i = 0; i < 50; ++i) {
    random.set(0, 2048, PagePlace::host);
    std::uint64_t pages = 0;
    for (const PageRange& range : random.fault({700})) {
      EXPECT_GE(range.first, 512u);
      EXPECT_LE(range.end(), 1024u);
      pages += range.count;
      below = below || range.first < 700;
      above = above || range.end() > 701;
    }
    EXPECT_LE(pages, 2u);
  }
  EXPECT_TRUE(below && above);
}

TEST(RandomPrefetcher, DrawThatIsThereAlreadyBringsNothing) {
  PrefetchBench random("random", 2048);
  random.set(0, 512, PagePlace::gpu);
  random.set(8, 1, PagePlace::host);
  EXPECT_THAT(random.fault({8}), ElementsAre(PageRange{8, 1}));
}

TEST(RandomPrefetcher, DrawDependsOnSeedAndNumberOfTheFaultAlone) {
  PrefetchBench one("random", 2048), same("random", 2048), other("random", 2048);
  other.set_seed(2);
  int different = 0;
  for (int i = 0; i < 20; ++i) {
    for (PrefetchBench* bench : {&one, &same, &other}) bench->set(0, 512, PagePlace::host);
    const auto pages = one.fault({100});
    EXPECT_EQ(pages, same.fault({100}));
    different += pages != other.fault({100});
  }
  EXPECT_GT(different, 10);
}

}  // namespace
}  // namespace lockstep::prefetchers_test
