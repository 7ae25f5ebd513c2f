#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/driver/managed_page_literal.hpp"
#include "tests/unit/driver/prefetch/prefetch_bench.hpp"

namespace lockstep::prefetchers_test {
namespace {

using testing::ElementsAre;

TEST(NoPrefetcher, BringsOnlyWhatFaulted) {
  PrefetchBench none("none", 2048);
  EXPECT_THAT(none.fault({3, 4, 100}), ElementsAre(PageRange{3_page, 2}, PageRange{100_page, 1}));
  EXPECT_THAT(none.transfers(), ElementsAre(-4, -4, -4));
}

TEST(SequentialLocalPrefetcher, BringsTheBlockOfAFault) {
  PrefetchBench local("sequential-local", 2048);
  EXPECT_THAT(local.fault({21}), ElementsAre(PageRange{16_page, 16}));
  EXPECT_THAT(local.transfers(), ElementsAre(-24, 40));
}

TEST(SequentialLocalPrefetcher, FaultsOfABlockShareIt) {
  PrefetchBench local("sequential-local", 2048);
  EXPECT_THAT(local.fault({3, 9, 40}), ElementsAre(PageRange{0_page, 16}, PageRange{32_page, 16}));
  EXPECT_THAT(local.transfers(), ElementsAre(-16, -24, 24, -36, 28));
}

TEST(SequentialLocalPrefetcher, SkipsPagesThatAreThereOrOnTheirWay) {
  PrefetchBench local("sequential-local", 2048);
  local.set(2, 3, PagePlace::arriving);
  local.set(10, 1, PagePlace::gpu);
  local.set(15, 1, PagePlace::leaving);
  EXPECT_THAT(local.fault({1}),
              ElementsAre(PageRange{0_page, 2}, PageRange{5_page, 5}, PageRange{11_page, 4}));
}

TEST(SequentialLocalPrefetcher, StopsAtTheEndOfTheAllocation) {
  PrefetchBench local("sequential-local", 72);
  EXPECT_THAT(local.fault({17}), ElementsAre(PageRange{16_page, 2}));
}

TEST(SequentialLocalPrefetcher, PageThatIsJustLeavingMayFault) {
  PrefetchBench local("sequential-local", 64);
  local.set(5, 2, PagePlace::leaving);
  EXPECT_THAT(local.fault({5}), ElementsAre(PageRange{0_page, 6}, PageRange{7_page, 9}));
}

TEST(ZhengLocalPrefetcher, Brings512KiBFromTheFaultOn) {
  PrefetchBench zheng("zheng-local512k", 2048);
  EXPECT_THAT(zheng.fault({5}), ElementsAre(PageRange{5_page, 128}));
  EXPECT_THAT(zheng.transfers(), ElementsAre(-4, 508));
  EXPECT_THAT(zheng.fault({200, 250, 480}),
              ElementsAre(PageRange{200_page, 178}, PageRange{480_page, 32}));
}

TEST(ZhengSequentialPrefetcher, StreamsFromTheLowestAddressWhereverFaultsAre) {
  PrefetchBench zheng("zheng-seq", 2048);
  EXPECT_THAT(zheng.fault({300}), ElementsAre(PageRange{0_page, 128}, PageRange{300_page, 1}));
  EXPECT_THAT(zheng.transfers(), ElementsAre(512, -4));
  EXPECT_THAT(zheng.fault({400}), ElementsAre(PageRange{128_page, 128}, PageRange{400_page, 1}));
  // Beyond page 300, which is there.
  EXPECT_THAT(zheng.fault({500}), ElementsAre(PageRange{256_page, 44}, PageRange{301_page, 84},
                                              PageRange{500_page, 1}));
  EXPECT_THAT(zheng.fault({511}), ElementsAre(PageRange{385_page, 15}, PageRange{401_page, 99},
                                              PageRange{501_page, 11}));
}

TEST(ZhengSequentialPrefetcher, FaultThatTheStreamReachesIsOneOfItsPages) {
  PrefetchBench zheng("{name: zheng-seq, pages: 8}", 2048);
  EXPECT_THAT(zheng.fault({5}), ElementsAre(PageRange{0_page, 8}));
  EXPECT_THAT(zheng.fault({16}), ElementsAre(PageRange{8_page, 9}));
}

TEST(ZhengSequentialPrefetcher, GoesOnForEveryFaultOfABatch) {
  PrefetchBench zheng("{name: zheng-seq, pages: 8}", 2048);
  EXPECT_THAT(zheng.fault({10, 100}), ElementsAre(PageRange{0_page, 16}, PageRange{100_page, 1}));
}

TEST(ZhengSequentialPrefetcher, BringsBackWhatHasLeftFirst) {
  PrefetchBench zheng("{name: zheng-seq, pages: 4}", 2048);
  zheng.set(0, 100, PagePlace::gpu);
  zheng.set(20, 2, PagePlace::host);
  zheng.set(30, 1, PagePlace::leaving);
  EXPECT_THAT(zheng.fault({200}),
              ElementsAre(PageRange{20_page, 2}, PageRange{100_page, 2}, PageRange{200_page, 1}));
}

TEST(RandomPrefetcher, BringsOneMorePageOfTheSame2MiB) {
  PrefetchBench random("random", 8192);
  bool below = false, above = false;
  for (int i = 0; i < 50; ++i) {
    random.set(0, 2048, PagePlace::host);
    std::uint64_t pages = 0;
    for (const PageRange& range : random.fault({700})) {
      EXPECT_GE(range.first, 512_page);
      EXPECT_LE(range.end(), 1024_page);
      pages += range.count;
      below = below || range.first < 700_page;
      above = above || range.end() > 701_page;
    }
    EXPECT_LE(pages, 2u);
  }
  EXPECT_TRUE(below && above);
}

TEST(RandomPrefetcher, DrawThatIsThereAlreadyBringsNothing) {
  PrefetchBench random("random", 2048);
  random.set(0, 512, PagePlace::gpu);
  random.set(8, 1, PagePlace::host);
  EXPECT_THAT(random.fault({8}), ElementsAre(PageRange{8_page, 1}));
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
