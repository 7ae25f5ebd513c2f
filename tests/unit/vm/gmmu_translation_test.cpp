/// When translations are answered: TLB, walks, walk cache, walkers, large pages.
#include "tests/unit/vm/gmmu_bench.hpp"

namespace lockstep::test::gmmu_translation_test {

namespace {

using testing::ElementsAreArray;
using testing::IsEmpty;

// First page of the 2 MiB range that the tests use; not a multiple of anything else.
constexpr std::uint64_t page = 5 * 512;

}  // namespace

TEST(GmmuSharedTlb, MissesBothArraysThenWalksFourLevels) {
  GmmuBench bench;
  bench.map(page, 0x7000);
  bench.translate(100, 0, page);
  bench.run_until(1000);
  // 10 + 10 for the arrays, four dependent reads of 60.
  EXPECT_THAT(bench.asked_of_memory(), ElementsAreArray({"120 read 1", "180 read 2", "240 read 3",
                                                         "300 read 4", "360 or 1"}));
  EXPECT_THAT(bench.sent(), ElementsAreArray({"360 sm0 found 2560 at 0x7000"}));
}

TEST(GmmuSharedTlb, HitsInTheBaseEntriesTakeBothLatencies) {
  GmmuBench bench;
  bench.map(page, 0x7000);
  bench.translate(100, 0, page);
  bench.translate(500, 1, page);
  bench.run_until(1000);
  EXPECT_THAT(bench.sent(),
              ElementsAreArray({"360 sm0 found 2560 at 0x7000", "520 sm1 found 2560 at 0x7000"}));
  EXPECT_EQ(bench.statistics().tlb_hits[0].value(), 1u);
}

TEST(GmmuSharedTlb, HitsInTheLargeEntriesTakeOneLatencyAndServeTheWholePage) {
  GmmuBench bench;
  bench.map_large(page, 0x40'0000);
  bench.translate(100, 0, page + 3);
  bench.translate(500, 1, page + 511);
  bench.run_until(1000);
  EXPECT_THAT(bench.sent(), ElementsAreArray({"360 sm0 found 2563 at 0x400000 large",
                                              "510 sm1 found 3071 at 0x400000 large"}));
  // The first entry stands for all.
  EXPECT_NE(bench.entry(page) & GmmuBench::accessed, 0u);
  EXPECT_EQ(bench.entry(page + 3) & GmmuBench::accessed, 0u);
}

TEST(GmmuSharedTlb, LookedUpTogetherAllEntriesTakeOneLatency) {
  GmmuOptions options;
  options.together = true;
  GmmuBench bench(options);
  bench.map(page, 0x7000);
  bench.map_large(page + 512, 0x40'0000);
  bench.translate(100, 0, page);
  bench.translate(100, 0, page + 512);
  bench.translate(500, 1, page);
  bench.translate(500, 1, page + 513);
  bench.run_until(1000);
  EXPECT_THAT(
      bench.sent(),
      ElementsAreArray({"350 sm0 found 2560 at 0x7000", "350 sm0 found 3072 at 0x400000 large",
                        "510 sm1 found 2560 at 0x7000", "510 sm1 found 3073 at 0x400000 large"}));
}

TEST(GmmuSharedTlb, BeginsAsManyLookupsPerCycleAsItHasPorts) {
  GmmuBench bench;
  for (std::uint64_t i = 0; i < 5; ++i) bench.map(page + i, 0x7000 + i * page_bytes);
  for (std::uint64_t i = 0; i < 5; ++i) bench.translate(100, 0, page + i);
  bench.run_until(600);
  bench.sent();
  for (std::uint64_t i = 0; i < 5; ++i) bench.translate(600, 0, page + i);
  bench.run_until(1000);
  EXPECT_THAT(bench.sent(),
              ElementsAreArray({"620 sm0 found 2560 at 0x7000", "620 sm0 found 2561 at 0x8000",
                                "621 sm0 found 2562 at 0x9000", "621 sm0 found 2563 at 0xa000",
                                "622 sm0 found 2564 at 0xb000"}));
}

TEST(GmmuSharedTlb, TenantsDoNotSeeEachOthersEntries) {
  GmmuBench bench;
  bench.map(page, 0x7000);
  bench.map(page, 0x9000, GmmuBench::present, 1);
  bench.translate(100, 0, page);
  bench.translate(500, 0, page, false, 1);
  bench.run_until(1000);
  EXPECT_THAT(bench.sent(),
              ElementsAreArray({"360 sm0 found 2560 at 0x7000", "760 sm0 found 2560 at 0x9000"}));
}

TEST(GmmuSharedTlb, RequestsForAPageShareItsWalk) {
  GmmuBench bench;
  bench.map(page, 0x7000);
  bench.translate(100, 0, page);
  bench.translate(100, 1, page);
  bench.translate(200, 2, page);
  bench.run_until(1000);
  EXPECT_THAT(bench.sent(),
              ElementsAreArray({"360 sm0 found 2560 at 0x7000", "360 sm1 found 2560 at 0x7000",
                                "360 sm2 found 2560 at 0x7000"}));
  EXPECT_EQ(bench.statistics().walks[0].value(), 1u);
  EXPECT_EQ(bench.statistics().merged[0].value(), 2u);
}

TEST(GmmuSharedTlb, MissesWithoutAnMshrWaitAndHoldTheQueue) {
  GmmuOptions options;
  options.mshrs = 1;
  GmmuBench bench(options);
  for (std::uint64_t i = 0; i < 3; ++i) bench.map(page + i, 0x7000 + i * page_bytes);
  bench.translate(100, 0, page);
  bench.translate(100, 0, page + 1);
  bench.translate(125, 0, page + 2);  // its lookup begins when the second miss has its MSHR
  bench.run_until(2000);
  EXPECT_THAT(bench.sent(),
              ElementsAreArray({"360 sm0 found 2560 at 0x7000", "600 sm0 found 2561 at 0x8000",
                                "840 sm0 found 2562 at 0x9000"}));
  EXPECT_EQ(bench.statistics().mshr_stalls[0].value(), 2u);
}

TEST(GmmuWalkers, WalksWaitForAWalkerInOrder) {
  GmmuOptions options;
  options.walkers = 2;
  GmmuBench bench(options);
  for (std::uint64_t i = 0; i < 3; ++i) bench.map(page + i, 0x7000 + i * page_bytes);
  bench.translate(100, 0, page);
  bench.translate(100, 0, page + 1);
  bench.translate(100, 0, page + 2);
  bench.run_until(1000);
  EXPECT_THAT(bench.sent(),
              ElementsAreArray({"360 sm0 found 2560 at 0x7000", "360 sm0 found 2561 at 0x8000",
                                "600 sm0 found 2562 at 0x9000"}));
  // The third missed in cycle 121.
  EXPECT_EQ(bench.statistics().walk_queue_cycles[0].value(), 360u - 121u);
  EXPECT_EQ(bench.statistics().walker_wait_behind.at(0, 0).value(), 360u - 121u);
}

TEST(GmmuWalkers, TakeAFixedTimeWhenToldTo) {
  GmmuOptions options;
  options.walk_latency = 100;
  GmmuBench bench(options);
  bench.map(page, 0x7000);
  bench.pages_mapped(50, page);
  bench.translate(100, 0, page);
  bench.run_until(1000);
  EXPECT_THAT(bench.sent(), ElementsAreArray({"220 sm0 found 2560 at 0x7000"}));
  EXPECT_THAT(bench.asked_of_memory(), IsEmpty());
}

TEST(GmmuWalkers, SetTheAccessedBitOnce) {
  GmmuBench bench;
  bench.map(page, 0x7000, GmmuBench::present | GmmuBench::accessed);
  bench.translate(100, 0, page);
  bench.run_until(1000);
  EXPECT_THAT(bench.asked_of_memory(),
              ElementsAreArray({"120 read 1", "180 read 2", "240 read 3", "300 read 4"}));
}

TEST(GmmuWalkers, SetTheDirtyBitOfAPageThatWasWritten) {
  GmmuBench bench;
  bench.map(page, 0x7000);
  bench.translate(100, 0, page, true);
  bench.written(410, 0, page);
  bench.run_until(1000);
  EXPECT_EQ(bench.entry(page), 0x7000u | GmmuBench::present | GmmuBench::writable |
                                   GmmuBench::accessed | GmmuBench::dirty);
  EXPECT_THAT(bench.sent(), ElementsAreArray({"360 sm0 found 2560 at 0x7000"}));
  // Another SM's notice finds the bit in the TLB.
  bench.asked_of_memory();
  bench.written(1000, 1, page);
  bench.run_until(2000);
  EXPECT_THAT(bench.asked_of_memory(), IsEmpty());
}

TEST(GmmuWalkers, FindNothingBeyondFourLevels) {
  GmmuBench bench;
  bench.map(page, 0x7000);
  bench.translate(100, 0, page + (std::uint64_t{1} << 36));
  bench.run_until(1000);
  EXPECT_THAT(bench.asked_of_memory(), IsEmpty());
  EXPECT_THAT(bench.sent(), ElementsAreArray({"120 sm0 refused 68719479296",
                                              "120 host far-fault 68719479296 of sm0"}));
}

// 001, section C.1: 100 cycles for every miss of an L1 TLB, however many walk.
TEST(GmmuWithoutASecondLevel, WalksAtOnceForEveryRequest) {
  GmmuOptions options;
  options.l2_tlb = false;
  options.walk_latency = 100;
  GmmuBench bench(options);
  for (std::uint64_t i = 0; i < 3; ++i) {
    bench.map(page + i, 0x7000 + i * page_bytes);
    bench.pages_mapped(50, page + i);
    bench.translate(100, 0, page + i);
  }
  bench.translate(300, 1, page);
  bench.run_until(1000);
  EXPECT_THAT(bench.sent(),
              ElementsAreArray({"200 sm0 found 2560 at 0x7000", "200 sm0 found 2561 at 0x8000",
                                "200 sm0 found 2562 at 0x9000", "400 sm1 found 2560 at 0x7000"}));
  EXPECT_EQ(bench.statistics().walks[0].value(), 4u);
  EXPECT_EQ(bench.statistics().tlb_misses[0].value(), 0u);
}

TEST(GmmuWithoutASecondLevel, ReadsTheTablesWhenWalksHaveNoFixedTime) {
  GmmuOptions options;
  options.l2_tlb = false;
  GmmuBench bench(options);
  bench.map_large(page, 0x40'0000);
  bench.translate(100, 0, page + 3);
  bench.translate(500, 1, page + 3, true);
  bench.written(800, 1, page + 3);
  bench.run_until(2000);
  EXPECT_THAT(bench.sent(), ElementsAreArray({"340 sm0 found 2563 at 0x400000 large",
                                              "740 sm1 found 2563 at 0x400000 large"}));
  EXPECT_NE(bench.entry(page) & GmmuBench::dirty, 0u);
}

TEST(GmmuPageWalkCache, LooksEveryLevelUpBeforeReadingIt) {
  GmmuOptions options;
  options.translation = "page-walk-cache";
  GmmuBench bench(options);
  bench.map(page, 0x7000);
  bench.map(page + 1, 0x8000);
  bench.translate(100, 0, page);
  bench.translate(500, 1, page + 1);
  bench.translate(700, 2, page);
  bench.run_until(1000);
  EXPECT_THAT(bench.sent(), ElementsAreArray({"380 sm0 found 2560 at 0x7000",     // 4 x (10 + 60)
                                              "600 sm1 found 2561 at 0x8000",     // 4 x 10 + 60
                                              "740 sm2 found 2560 at 0x7000"}));  // 4 x 10
}

TEST(GmmuPageWalkCache, ReadsAgainWhatMustNotBeWritten) {
  GmmuOptions options;
  options.translation = "page-walk-cache";
  options.shootdown = ShootdownGranularity::none;
  GmmuBench bench(options);
  bench.map(page, 0x7000, GmmuBench::present);
  bench.translate(100, 0, page);
  bench.run_until(500);
  bench.sent();
  bench.entry(page) |= GmmuBench::writable;
  bench.translate(500, 0, page, true);
  bench.run_until(1000);
  EXPECT_THAT(bench.sent(), ElementsAreArray({"600 sm0 found 2560 at 0x7000"}));
}

TEST(GmmuTlb, AStoreDoesNotHitWhatMustNotBeWritten) {
  GmmuBench bench;
  bench.map(page, 0x7000, GmmuBench::present | GmmuBench::accessed);
  bench.translate(100, 0, page);
  bench.run_until(500);
  bench.sent();
  bench.entry(page) |= GmmuBench::writable;
  bench.asked_of_memory();
  bench.translate(500, 0, page, true);
  bench.run_until(1000);
  EXPECT_THAT(bench.asked_of_memory(),
              ElementsAreArray({"520 read 1", "580 read 2", "640 read 3", "700 read 4"}));
  EXPECT_THAT(bench.sent(), ElementsAreArray({"760 sm0 found 2560 at 0x7000"}));
}

TEST(GmmuIdeal, AnswersInTheCycleOfArrival) {
  GmmuOptions options;
  options.translation = "ideal";
  GmmuBench bench(options);
  bench.map(page, 0x7000);
  bench.map_large(page + 512, 0x40'0000);
  bench.pages_mapped(50, page);
  bench.pages_mapped(50, page + 512, 512);
  bench.run_until(100);
  bench.sent();
  bench.translate(100, 0, page);
  bench.translate(100, 1, page + 515);
  bench.translate(100, 2, page + 1);
  bench.run_until(1000);
  EXPECT_THAT(
      bench.sent(),
      ElementsAreArray({"100 sm0 found 2560 at 0x7000", "100 sm1 found 3075 at 0x400000 large",
                        "100 sm2 refused 2561", "100 host far-fault 2561 of sm2"}));
}

TEST(GmmuIdeal, TellsEverySmOfPagesAndTakesThemFromAll) {
  GmmuOptions options;
  options.translation = "ideal";
  options.sms = 2;
  GmmuBench bench(options);
  bench.map(page, 0x7000);
  bench.pages_mapped(50, page);
  bench.use(100, 1, page);
  bench.run_until(200);
  EXPECT_THAT(bench.sent(), ElementsAreArray({"50 sm0 knows 2560 + 1", "50 sm1 knows 2560 + 1"}));
  bench.unmap(200, page);
  bench.run_until(300);
  EXPECT_THAT(bench.sent(),
              ElementsAreArray({"260 sm0 shootdown 2560 + 1", "260 sm1 shootdown 2560 + 1"}));
  bench.shot_down(300, 0);
  bench.shot_down(300, 1);
  bench.run_until(400);
  EXPECT_THAT(bench.unmapped(), ElementsAreArray({0x7000 | GmmuBench::present |
                                                  GmmuBench::writable | GmmuBench::accessed}));
}

TEST(GmmuState, IsSavedAndRestoredInTheMiddleOfAWalk) {
  for (const char* translation : {"shared-tlb", "page-walk-cache", "none"}) {
    for (std::int64_t cut = 95; cut < 420; cut += 7) {
      GmmuOptions options;
      options.l2_tlb = translation != std::string("none");
      if (options.l2_tlb) options.translation = translation;
      options.walkers = 1;
      GmmuBench whole(options), parts(options);
      for (GmmuBench* bench : {&whole, &parts}) {
        bench->map(page, 0x7000);
        bench->map(page + 1, 0x8000);
        bench->translate(100, 0, page);
        bench->translate(103, 1, page + 1, true);
        bench->translate(110, 2, page + 2);
        bench->written(280, 1, page);
      }
      parts.run_until(cut);
      parts.save_and_restore();
      for (GmmuBench* bench : {&whole, &parts}) bench->run_until(2000);
      EXPECT_EQ(whole.sent(), parts.sent());
      EXPECT_EQ(whole.asked_of_memory(), parts.asked_of_memory());
      EXPECT_EQ(whole.save(), parts.save()) << "cut at " << cut;
      EXPECT_TRUE(parts.gmmu().finished());
    }
  }
}

TEST(GmmuState, AnIdleGmmuSleeps) {
  GmmuBench bench;
  bench.map(page, 0x7000);
  bench.translate(100, 0, page);
  bench.run_until(130);
  EXPECT_FALSE(bench.gmmu().finished());
  EXPECT_EQ(bench.gmmu().waiting_for(), "1 page walks, 0 waiting for a walker, 0 for an unmapping");
  EXPECT_EQ(bench.gmmu().next_activity(), Time::never());
  bench.run_until(1000);
  EXPECT_TRUE(bench.gmmu().finished());
  EXPECT_EQ(bench.gmmu().waiting_for(), "");
}

}  // namespace lockstep::test::gmmu_translation_test
