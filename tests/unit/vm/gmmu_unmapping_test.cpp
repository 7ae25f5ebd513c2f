/// Pages that are taken away: shootdowns, unmapping, tenants that end.
#include "tests/unit/vm/gmmu_bench.hpp"

namespace lockstep::test::gmmu_unmapping_test {

namespace {

using testing::ElementsAreArray;
using testing::IsEmpty;

constexpr std::uint64_t page = 5 * 512;
constexpr std::uint64_t present = GmmuBench::present, writable = GmmuBench::writable,
                        accessed = GmmuBench::accessed, dirty = GmmuBench::dirty,
                        large = GmmuBench::large;

/// A bench in which SMs 0 and 1 have a translation of `page`, at 1000 ns.
GmmuBench& with_translations(GmmuBench& bench) {
  bench.map(page, 0x7000);
  bench.pages_mapped(50, page);
  bench.translate(100, 0, page);
  bench.translate(100, 1, page);
  bench.run_until(1000);
  bench.sent();
  bench.asked_of_memory();
  return bench;
}

}  // namespace

// virtual-memory-and-exceptions.md, section 19, test 8.
TEST(GmmuShootdown, WholeLeavesNoEntryOfTheTenant) {
  GmmuOptions options;
  options.shootdown = ShootdownGranularity::whole;
  GmmuBench bench(options);
  with_translations(bench);
  bench.map(page, 0x9000, present, 1);
  bench.translate(1000, 2, page, false, 1);
  bench.map(page + 1, 0x8000);
  bench.pages_mapped(1500, page + 1);
  bench.run_until(1600);
  EXPECT_THAT(bench.sent(),
              ElementsAreArray({"1260 sm2 found 2560 at 0x9000", "1500 sm0 flush tenant 0",
                                "1500 sm1 flush tenant 0", "1500 sm2 flush tenant 0"}));
  EXPECT_EQ(bench.statistics().entries_dropped[0].value(), 1u);
  bench.translate(1600, 0, page);            // walks
  bench.translate(1600, 2, page, false, 1);  // hits
  bench.run_until(2000);
  EXPECT_THAT(bench.sent(),
              ElementsAreArray({"1620 sm2 found 2560 at 0x9000", "1860 sm0 found 2560 at 0x7000"}));
}

TEST(GmmuShootdown, WholeIsAlsoForPagesThatGo) {
  GmmuOptions options;
  options.shootdown = ShootdownGranularity::whole;
  GmmuBench bench(options);
  with_translations(bench);
  bench.map(page + 1, 0x8000);
  bench.translate(1000, 0, page + 1);
  bench.unmap(1500, page);
  bench.run_until(1600);
  EXPECT_THAT(bench.sent(),
              ElementsAreArray({"1260 sm0 found 2561 at 0x8000", "1500 sm0 flush tenant 0",
                                "1500 sm1 flush tenant 0", "1500 sm2 flush tenant 0",
                                "1560 sm0 shootdown 2560 + 1", "1560 sm1 shootdown 2560 + 1"}));
  bench.translate(1600, 0, page + 1);  // walks again
  bench.run_until(2000);
  EXPECT_THAT(bench.sent(), ElementsAreArray({"1860 sm0 found 2561 at 0x8000"}));
}

TEST(GmmuShootdown, MissesOnPagesThatItTookAreCountedOnce) {
  GmmuOptions options;
  options.shootdown = ShootdownGranularity::whole;
  GmmuBench bench(options);
  with_translations(bench);
  bench.map(page + 1, 0x8000);
  bench.pages_mapped(1500, page + 1);  // flushes
  for (const std::int64_t at : {1600, 1601, 2000}) bench.translate(at, 0, page);
  bench.translate(1600, 0, page + 1);
  bench.unmap(2500, page);
  bench.run_until(2600);
  bench.shot_down(2600, 0);
  bench.shot_down(2600, 1);
  bench.translate(2700, 0, page);
  bench.translate(2700, 0, page + 2);
  bench.run_until(4000);
  const GmmuStatistics& statistics = bench.statistics();
  // Two before, then all but the one at 2000.
  EXPECT_EQ(statistics.tlb_misses[0].value(), 2u + 5u);
  EXPECT_EQ(statistics.tlb_lost_misses[0][0].value(), 1u) << "at 1600, after the flush";
  EXPECT_EQ(statistics.tlb_lost_misses[0][1].value(), 1u) << "at 2700, after the shootdown";
}

TEST(GmmuShootdown, NewAddressSpaceHasLostNothing) {
  GmmuBench bench;
  with_translations(bench);
  bench.new_root(1500);
  bench.translate(1600, 0, page);
  bench.run_until(2000);
  EXPECT_EQ(bench.statistics().tlb_misses[0].value(), 3u);
  EXPECT_EQ(bench.statistics().tlb_lost_misses[0][0].value(), 0u);
  EXPECT_EQ(bench.statistics().tlb_lost_misses[0][1].value(), 0u);
}

TEST(GmmuShootdown, WholeMayMeanEverybody) {
  GmmuOptions options;
  options.shootdown = ShootdownGranularity::whole;
  options.scope = ShootdownScope::all;
  GmmuBench bench(options);
  with_translations(bench);
  bench.map(page, 0x9000, present, 1);
  bench.pages_mapped(1500, page, 1, 1);
  bench.translate(1600, 0, page);
  bench.run_until(2000);
  EXPECT_THAT(bench.sent(),
              ElementsAreArray({"1500 sm0 flush all", "1500 sm1 flush all", "1500 sm2 flush all",
                                "1860 sm0 found 2560 at 0x7000"}));
}

TEST(GmmuShootdown, ByEntryDropsNothingElse) {
  for (const auto granularity : {ShootdownGranularity::entry, ShootdownGranularity::none}) {
    GmmuOptions options;
    options.shootdown = granularity;
    GmmuBench bench(options);
    with_translations(bench);
    bench.map(page + 1, 0x8000);
    bench.pages_mapped(1500, page + 1);
    bench.translate(1600, 0, page);
    bench.run_until(2000);
    EXPECT_THAT(bench.sent(), ElementsAreArray({"1620 sm0 found 2560 at 0x7000"}));
    EXPECT_EQ(bench.statistics().entries_dropped[0].value(), 0u);
  }
}

TEST(GmmuUnmap, ExchangesTheEntryThenShootsDownWhoeverMayHaveIt) {
  GmmuBench bench;
  with_translations(bench);
  bench.unmap(1000, page);
  bench.run_until(1100);
  EXPECT_THAT(bench.asked_of_memory(), ElementsAreArray({"1000 exchange 1"}));
  EXPECT_EQ(bench.entry(page), 0u);
  // SM 2 never got a translation of the tenant.
  EXPECT_THAT(bench.sent(),
              ElementsAreArray({"1060 sm0 shootdown 2560 + 1", "1060 sm1 shootdown 2560 + 1"}));
  EXPECT_EQ(bench.gmmu().waiting_for(),
            "unmapping 1 pages from 2560 of tenant 0 (2 answers of SMs)");
  bench.shot_down(1150, 0);
  bench.shot_down(1200, 1);
  bench.run_until(1300);
  EXPECT_THAT(bench.sent(), ElementsAreArray({"1200 host unmapped 2560 + 1"}));
  EXPECT_THAT(bench.unmapped(), ElementsAreArray({0x7000 | present | writable | accessed}));
  EXPECT_TRUE(bench.gmmu().finished());
  // What it kept is gone, too.
  bench.translate(1300, 0, page);
  bench.run_until(2000);
  EXPECT_THAT(bench.sent(),
              ElementsAreArray({"1560 sm0 refused 2560", "1560 host far-fault 2560 of sm0"}));
}

TEST(GmmuUnmap, ExchangesALineOfEntriesAtATime) {
  GmmuBench bench;
  for (std::uint64_t i = 0; i < 40; ++i) bench.map(page + i, 0x7000 + i * page_bytes);
  bench.unmap(100, page + 6, 20);
  bench.run_until(1000);
  EXPECT_THAT(bench.asked_of_memory(), ElementsAreArray({"100 exchange 10", "100 exchange 10"}));
  EXPECT_THAT(bench.sent(), ElementsAreArray({"160 host unmapped 2566 + 20"}));
  for (std::uint64_t i = 0; i < 20; ++i)
    EXPECT_EQ(bench.unmapped()[i], (0x7000 + (6 + i) * page_bytes) | present | writable);
  EXPECT_NE(bench.entry(page + 5), 0u);
  EXPECT_NE(bench.entry(page + 26), 0u);
}

TEST(GmmuUnmap, WhoeverStoredMakesAPageDirty) {
  // A bit in the entry; a notice under way; an SM's answer.
  GmmuBench bench;
  for (std::uint64_t i = 0; i < 4; ++i) bench.map(page + i, 0x7000 + i * page_bytes);
  for (std::uint64_t i = 0; i < 4; ++i) bench.translate(100, 0, page + i, true);
  bench.run_until(1000);
  bench.written(1000, 0, page);
  bench.run_until(1500);
  bench.written(1500, 0, page + 1);  // its walk has not ended when the page is unmapped
  bench.unmap(1550, page, 4);
  bench.run_until(1900);
  bench.shot_down(1900, 0, {2});
  bench.run_until(2500);
  const auto is_dirty = [&](std::size_t i) { return (bench.unmapped().at(i) & dirty) != 0; };
  EXPECT_TRUE(is_dirty(0));
  EXPECT_TRUE(is_dirty(1));
  EXPECT_TRUE(is_dirty(2));
  EXPECT_FALSE(is_dirty(3));
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(bench.entry(page + i), 0u);
}

TEST(GmmuUnmap, ANoticeBetweenExchangeAndShootdownCounts) {
  GmmuBench bench;
  with_translations(bench);
  bench.unmap(1000, page);
  bench.written(1030, 1, page);
  bench.run_until(1100);
  bench.shot_down(1150, 0);
  bench.shot_down(1150, 1);
  bench.run_until(1300);
  EXPECT_NE(bench.unmapped().at(0) & dirty, 0u);
  EXPECT_EQ(bench.entry(page), 0u);
}

TEST(GmmuUnmap, WalksInFlightBeginAgainAndFindNothing) {
  GmmuBench bench;
  bench.map(page, 0x7000);
  bench.translate(100, 0, page);
  bench.run_until(310);
  bench.unmap(310, page);  // the entry has been read, the answer is under way
  bench.run_until(1000);
  // Held until the exchange is answered at 370.
  EXPECT_THAT(bench.sent(), ElementsAreArray({"370 host unmapped 2560 + 1", "610 sm0 refused 2560",
                                              "610 host far-fault 2560 of sm0"}));
  EXPECT_EQ(bench.statistics().walks_restarted[0].value(), 1u);
}

TEST(GmmuUnmap, NewWalksOfThePageWaitForTheExchange) {
  GmmuBench bench;
  with_translations(bench);
  bench.unmap(1000, page);
  bench.translate(1001, 2, page);
  bench.run_until(2000);
  EXPECT_THAT(bench.asked_of_memory(),
              ElementsAreArray(
                  {"1000 exchange 1", "1060 read 1", "1120 read 2", "1180 read 3", "1240 read 4"}));
  EXPECT_THAT(bench.sent(),
              ElementsAreArray({"1060 sm0 shootdown 2560 + 1", "1060 sm1 shootdown 2560 + 1",
                                "1300 sm2 refused 2560", "1300 host far-fault 2560 of sm2"}));
}

TEST(GmmuUnmap, WaitsUntilReplaysHaveCompleted) {
  GmmuBench bench;
  bench.translate(100, 0, page);
  bench.translate(100, 1, page);
  bench.run_until(1000);
  bench.map(page, 0x7000);
  bench.pages_mapped(1000, page);
  bench.unmap(1010, page);
  bench.run_until(1100);
  bench.sent();
  EXPECT_EQ(bench.gmmu().waiting_for(),
            "SMs to replay 1 pages; unmapping 1 pages from 2560 of tenant 0 (replays)");
  bench.translate(1100, 0, page);
  bench.translate(1100, 1, page);
  bench.run_until(1500);
  EXPECT_THAT(bench.sent(),
              ElementsAreArray({"1360 sm0 found 2560 at 0x7000", "1360 sm1 found 2560 at 0x7000"}));
  bench.replayed(1500, 1, page);
  bench.run_until(1550);
  EXPECT_NE(bench.entry(page), 0u);
  bench.replayed(1600, 0, page);
  bench.run_until(1700);
  EXPECT_THAT(bench.sent(),
              ElementsAreArray({"1660 sm0 shootdown 2560 + 1", "1660 sm1 shootdown 2560 + 1"}));
}

// The host unmaps a page in order to make it writable: the store that was refused again does not
// hold the page.
TEST(GmmuUnmap, ARefusalEndsAReplay) {
  GmmuBench bench;
  bench.translate(100, 0, page, true);
  bench.run_until(1000);
  bench.map(page, 0x7000, present);
  bench.pages_mapped(1000, page);
  bench.translate(1100, 0, page, true);
  bench.run_until(1400);
  bench.sent();
  bench.unmap(1400, page);
  bench.run_until(1500);
  EXPECT_THAT(bench.sent(), ElementsAreArray({"1460 host unmapped 2560 + 1"}));
  bench.map(page, 0x7000);
  bench.pages_mapped(1600, page);
  bench.run_until(1700);
  EXPECT_THAT(bench.sent(), ElementsAreArray({"1600 sm0 replay 2560"}));
}

TEST(GmmuUnmap, ALargePageGoesAsAWhole) {
  GmmuBench bench;
  bench.map_large(page, 0x40'0000);
  bench.translate(100, 0, page + 3, true);
  bench.run_until(500);
  bench.written(500, 0, page + 3);
  bench.run_until(1000);
  EXPECT_NE(bench.entry(page) & dirty, 0u);
  bench.asked_of_memory();
  bench.unmap(1000, page, 512);
  bench.run_until(1500);
  EXPECT_EQ(bench.directory_entry(page) & large, 0u);
  EXPECT_NE(bench.directory_entry(page) & present, 0u);
  for (std::uint64_t i = 0; i < 512; ++i) EXPECT_EQ(bench.entry(page + i), 0u);
  bench.shot_down(1500, 0);
  bench.run_until(1600);
  for (std::uint64_t i = 0; i < 512; ++i)
    EXPECT_EQ(bench.unmapped().at(i) & ~accessed,
              (0x40'0000 + i * page_bytes) | present | writable | dirty);
  // Nothing of it is kept.
  bench.sent();
  bench.translate(1600, 0, page + 3);
  bench.run_until(2000);
  EXPECT_THAT(bench.sent(),
              ElementsAreArray({"1860 sm0 refused 2563", "1860 host far-fault 2563 of sm0"}));
}

TEST(GmmuUnmap, SharesTheExchangesAmongAll) {
  GmmuBench bench;
  for (std::uint64_t i = 0; i < 3 * 512; ++i) bench.map(page + i, 0x7000 + i * page_bytes);
  for (std::uint64_t table = 0; table < 3; ++table) bench.unmap(100, page + 512 * table, 512);
  bench.run_until(1000);
  // 96 lines, 64 at once.
  EXPECT_THAT(bench.sent(),
              ElementsAreArray({"160 host unmapped 2560 + 512", "160 host unmapped 3072 + 512",
                                "220 host unmapped 3584 + 512"}));
}

TEST(GmmuUnmap, ReturnsTheBitsThatAMirrorHolds) {
  for (const char* translation : {"shared-tlb", "ideal"}) {
    GmmuOptions options;
    options.translation = translation;
    options.sms = 1;
    options.walk_latency = 100;
    GmmuBench bench(options);
    bench.map(page, 0x7000);
    bench.pages_mapped(50, page);
    bench.translate(100, 0, page, true);
    bench.run_until(500);
    bench.written(500, 0, page);
    bench.pages_mapped(600, page);  // told again: the bits stay
    bench.unmap(700, page);
    bench.run_until(800);
    bench.shot_down(800, 0);
    bench.run_until(900);
    EXPECT_THAT(bench.unmapped(),
                ElementsAreArray({0x7000 | present | writable | accessed | dirty}));
    EXPECT_EQ(bench.entry(page), 0u);
    bench.sent();
    bench.translate(900, 0, page);
    bench.run_until(1100);
    EXPECT_EQ(bench.sent().size(), 2u);  // refused, far-fault
  }
}

TEST(GmmuState, IsSavedAndRestoredInTheMiddleOfAnUnmapping) {
  for (std::int64_t cut = 905; cut < 1300; cut += 10) {
    GmmuBench whole, parts;
    for (GmmuBench* bench : {&whole, &parts}) {
      with_translations(*bench);
      bench->translate(1000, 1, page + 1);
      bench->translate(1000, 0, page + 1, true);
      bench->unmap(1010, page, 2);
      bench->written(1100, 0, page);
    }
    if (cut > 1000) parts.run_until(cut);
    parts.save_and_restore();
    for (GmmuBench* bench : {&whole, &parts}) {
      bench->run_until(1300);
      bench->shot_down(1350, 0, {0});
      bench->shot_down(1360, 1);
      bench->run_until(2000);
    }
    EXPECT_EQ(whole.sent(), parts.sent());
    EXPECT_EQ(whole.unmapped(), parts.unmapped());
    EXPECT_EQ(whole.save(), parts.save()) << "cut at " << cut;
  }
}

// The frames of a tenant's tables serve others when it has ended.
TEST(GmmuRoot, WithoutOneNothingIsReadOrWritten) {
  GmmuBench bench;
  bench.map(page, 0x7000);
  bench.translate(100, 0, page);
  bench.run_until(310);
  bench.asked_of_memory();
  bench.end_tenant(310);  // the last entry has been read, the answer is under way
  bench.run_until(1000);
  EXPECT_THAT(bench.asked_of_memory(), IsEmpty());
  EXPECT_THAT(bench.sent(),
              ElementsAreArray({"360 sm0 refused 2560", "360 host far-fault 2560 of sm0"}));
}

TEST(GmmuRoot, ANewOneForgetsWhatWasKept) {
  GmmuOptions options;
  options.translation = "page-walk-cache";
  GmmuBench bench(options);
  bench.map(page, 0x7000);
  bench.translate(100, 0, page);
  bench.run_until(1000);
  bench.sent();
  bench.new_root(1000);
  bench.translate(1100, 0, page);
  bench.run_until(2000);
  EXPECT_THAT(bench.sent(),
              ElementsAreArray({"1170 sm0 refused 2560", "1170 host far-fault 2560 of sm0"}));
}

}  // namespace lockstep::test::gmmu_unmapping_test
