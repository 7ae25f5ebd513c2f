/// Far-faults and the replays that end them.
#include "tests/unit/vm/gmmu_bench.hpp"

namespace lockstep::test::gmmu_far_faults_test {

namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;

constexpr std::uint64_t page = 5 * 512;

}  // namespace

// virtual-memory-and-exceptions.md, section 19, test 3.
TEST(GmmuFarFaults, TwoSmsInOneCycleMakeOneWalkOneFaultTwoReplays) {
  GmmuBench bench;
  bench.map(page + 1, 0x8000);  // the tables are there
  bench.translate(100, 0, page);
  bench.translate(100, 1, page, true);
  bench.run_until(1000);
  EXPECT_THAT(bench.sent(), ElementsAreArray({"360 sm0 refused 2560", "360 sm1 refused 2560",
                                              "360 host far-fault 2560 of sm0"}));
  EXPECT_EQ(bench.statistics().walks[0].value(), 1u);
  EXPECT_EQ(bench.statistics().coalesced[0].value(), 1u);
  EXPECT_EQ(bench.statistics().far_faults_waiting[0].value(), 1u);
  EXPECT_EQ(bench.gmmu().waiting_for(), "the host to bring 1 pages");

  bench.map(page, 0x7000);
  bench.pages_mapped(1000, page);
  bench.run_until(1100);
  EXPECT_THAT(bench.sent(), ElementsAreArray({"1000 sm0 replay 2560", "1000 sm1 replay 2560"}));
  bench.translate(1100, 0, page);
  bench.translate(1100, 1, page, true);
  bench.run_until(2000);
  EXPECT_THAT(bench.sent(),
              ElementsAreArray({"1360 sm0 found 2560 at 0x7000", "1360 sm1 found 2560 at 0x7000"}));
}

TEST(GmmuFarFaults, FoundInOneCycleLeaveInOneCycle) {
  GmmuBench bench;
  bench.translate(100, 0, page);
  bench.translate(100, 1, page + 1);
  bench.run_until(1000);
  EXPECT_THAT(bench.sent(), ElementsAreArray({"180 sm0 refused 2560", "180 sm1 refused 2561",
                                              "180 host far-fault 2560 of sm0",
                                              "180 host far-fault 2561 of sm1"}));
}

TEST(GmmuFarFaults, BroadcastNamesThePagesToThoseListedAndTellsEverySm) {
  GmmuOptions options;
  options.replay = ReplayMode::broadcast;
  GmmuBench bench(options);
  bench.translate(100, 1, page);
  bench.translate(100, 1, page + 1);
  bench.run_until(1000);
  bench.sent();
  bench.map(page, 0x7000);
  bench.map(page + 1, 0x8000);
  bench.pages_mapped(1000, page, 2);
  bench.run_until(1100);
  EXPECT_THAT(bench.sent(), ElementsAreArray({"1000 sm0 replay all", "1000 sm1 replay 2560",
                                              "1000 sm1 replay 2561", "1000 sm1 replay all",
                                              "1000 sm2 replay all"}));
}

TEST(GmmuFarFaults, NobodyIsToldOfAPageThatNobodyWaitsFor) {
  for (const ReplayMode mode : {ReplayMode::listed, ReplayMode::broadcast, ReplayMode::block_tlb}) {
    GmmuOptions options;
    options.replay = mode;
    GmmuBench bench(options);
    bench.map(page, 0x7000);
    bench.pages_mapped(100, page);
    bench.run_until(1000);
    EXPECT_THAT(bench.sent(), IsEmpty());
  }
}

TEST(GmmuFarFaults, ReachesTheHostAgainWhenTheNewsCrossedTheWalk) {
  GmmuBench bench;
  bench.map(page + 1, 0x8000);
  bench.translate(100, 0, page);
  bench.run_until(310);  // the empty entry has been read
  bench.map(page, 0x7000);
  bench.pages_mapped(320, page);
  bench.run_until(1000);
  EXPECT_THAT(bench.sent(),
              ElementsAreArray({"360 sm0 refused 2560", "360 host far-fault 2560 of sm0"}));
  bench.pages_mapped(1000, page);  // the host's answer for a page that is there
  bench.run_until(1100);
  EXPECT_THAT(bench.sent(), ElementsAreArray({"1000 sm0 replay 2560"}));
}

TEST(GmmuFarFaults, AStoreToAPageThatMustNotBeWrittenIsOne) {
  GmmuBench bench;
  bench.map(page, 0x7000, GmmuBench::present);
  bench.translate(100, 0, page);
  bench.translate(100, 1, page, true);
  bench.run_until(1000);
  EXPECT_THAT(bench.sent(),
              ElementsAreArray({"360 sm0 found 2560 at 0x7000", "360 sm1 refused 2560",
                                "360 host far-fault 2560 store permission of sm1"}));
  EXPECT_EQ(bench.statistics().permission_faults[0].value(), 1u);
}

TEST(GmmuFarFaults, RefusalsSayHowManyOlderGranulesArePending) {
  GmmuBench bench;
  const std::uint64_t granule = 16;  // pages
  for (const std::uint16_t sm : {0, 1, 2}) bench.translate(10 * sm, sm, sm * granule);
  bench.run_until(1000);
  EXPECT_THAT(bench.positions(), ElementsAre(0, 1, 2));
  EXPECT_THAT(bench.fault_positions(), ElementsAre(0, 1, 2));
  bench.translate(1000, 0, 2 * granule);  // joins the youngest
  bench.run_until(2000);
  EXPECT_THAT(bench.positions(), ElementsAre(2));
  bench.map(0, 0x7000);
  bench.pages_mapped(2000, 0);
  bench.run_until(2500);
  bench.save_and_restore();
  bench.translate(2500, 1, 2 * granule);
  bench.translate(2510, 1, 3 * granule);
  bench.run_until(3500);
  EXPECT_THAT(bench.positions(), ElementsAre(1, 2));
  EXPECT_THAT(bench.fault_positions(), ElementsAre(2));
}

TEST(GmmuFarFaults, PagesOfAGranuleAreOneInTheQueueUntilTheLastHasCome) {
  GmmuBench bench;
  const std::uint64_t granule = 16;
  bench.translate(0, 0, granule);
  bench.translate(10, 1, 2 * granule);
  bench.translate(20, 2, granule + 15);
  bench.run_until(1000);
  EXPECT_THAT(bench.positions(), ElementsAre(0, 1, 0));
  bench.map(granule, 0x7000);
  bench.pages_mapped(1000, granule);
  bench.run_until(1500);
  bench.save_and_restore();
  bench.translate(1500, 0, 3 * granule);
  bench.run_until(2000);
  EXPECT_THAT(bench.positions(), ElementsAre(2));
  bench.map(granule + 15, 0x8000);
  bench.pages_mapped(2000, granule + 15);
  bench.run_until(2500);
  bench.translate(2500, 1, 3 * granule);
  bench.run_until(3500);
  EXPECT_THAT(bench.positions(), ElementsAre(1));
}

TEST(GmmuFarFaults, WithoutAnMshrARequestWaitsUntilOneComesFree) {
  GmmuOptions options;
  options.far_fault_mshrs = 1;
  options.walk_latency = 100;
  GmmuBench bench(options);
  bench.translate(100, 0, page);
  bench.translate(110, 1, page + 1);
  bench.translate(120, 2, page);  // joins the walk
  bench.run_until(1000);
  EXPECT_THAT(bench.sent(), ElementsAreArray({"220 sm0 refused 2560", "220 sm2 refused 2560",
                                              "220 host far-fault 2560 of sm0"}));
  EXPECT_EQ(bench.statistics().far_fault_stalls[0].value(), 1u);
  EXPECT_EQ(bench.gmmu().waiting_for(),
            "the host to bring 1 pages; 1 requests without a far-fault MSHR");
  bench.save_and_restore();

  bench.map(page, 0x7000);
  bench.pages_mapped(1000, page);
  bench.run_until(2000);
  EXPECT_THAT(bench.sent(),
              ElementsAreArray({"1000 sm0 replay 2560", "1000 sm2 replay 2560",
                                "1120 sm1 refused 2561", "1120 host far-fault 2561 of sm1"}))
      << "its page was looked up anew";
  EXPECT_EQ(bench.statistics().far_faults[0].value(), 2u);
  EXPECT_EQ(bench.statistics().far_faults_most.value(), 1u);
  EXPECT_EQ(bench.statistics().tlb_misses[0].value(), 3u) << "looking up again counts no more";
}

TEST(GmmuFarFaults, WithoutAnMshrAPageMayComeBeforeItIsAskedFor) {
  for (const char* translation : {"shared-tlb", "page-walk-cache", "ideal"}) {
    GmmuOptions options;
    options.translation = translation;
    options.far_fault_mshrs = 1;
    GmmuBench bench(options);
    for (std::uint64_t i = 0; i < 3; ++i) bench.translate(100, 0, page + i);
    bench.run_until(1000);
    bench.sent();
    bench.map(page + 1, 0x8000);  // with a prefetch
    bench.pages_mapped(1000, page + 1);
    bench.run_until(2000);
    bench.sent();
    bench.map(page, 0x7000);
    bench.pages_mapped(2000, page);
    bench.run_until(3000);
    EXPECT_THAT(bench.sent(), testing::IsSupersetOf({testing::HasSubstr("sm0 found 2561 at 0x8000"),
                                                     testing::HasSubstr("sm0 refused 2562"),
                                                     testing::HasSubstr("host far-fault 2562")}))
        << translation << ": the entry kept for the second page goes to the third";
    EXPECT_EQ(bench.statistics().far_fault_stalls[0].value(), 2u) << translation;
  }
}

TEST(GmmuFarFaults, WhatWaitsForAnMshrIsSquashedMeanwhileIfSmsSquash) {
  GmmuOptions options;
  options.far_fault_mshrs = 1;
  options.squashes = true;
  GmmuBench bench(options);
  bench.translate(100, 0, page);
  bench.translate(100, 1, page + 1);
  bench.translate(100, 2, page + 2);
  bench.run_until(1000);
  EXPECT_THAT(bench.sent(),
              ElementsAreArray({"180 sm0 refused 2560", "180 sm1 refused 2561",
                                "180 host far-fault 2560 of sm0", "181 sm2 refused 2562"}));
  bench.save_and_restore();
  bench.map(page + 1, 0x8000);  // with a prefetch
  bench.pages_mapped(1000, page + 1);
  bench.run_until(2000);
  EXPECT_THAT(bench.sent(), testing::IsEmpty());
  bench.map(page, 0x7000);
  bench.pages_mapped(2000, page);
  bench.run_until(3000);
  EXPECT_THAT(bench.sent(), testing::IsSupersetOf({testing::HasSubstr("sm0 replay 2560"),
                                                   testing::HasSubstr("sm1 replay 2561"),
                                                   testing::HasSubstr("host far-fault 2562")}))
      << "the second page has come, the third is asked for";
}

TEST(GmmuFarFaults, ATenantThatEndsLeavesItsMshrs) {
  GmmuOptions options;
  options.far_fault_mshrs = 1;
  GmmuBench bench(options);
  bench.translate(100, 0, page);
  bench.translate(100, 1, page + 1);
  bench.translate(100, 2, page, false, 1);
  bench.run_until(1000);
  EXPECT_THAT(bench.sent(),
              ElementsAreArray({"180 sm0 refused 2560", "180 host far-fault 2560 of sm0"}));
  bench.end_tenant(1000);
  bench.run_until(2000);
  EXPECT_THAT(bench.sent(), testing::Contains("1000 sm1 refused 2561"))
      << "whoever has left is told";
  EXPECT_EQ(bench.statistics().far_faults[1].value(), 1u);
  EXPECT_EQ(bench.statistics().far_faults_waiting[0].value(), 0u);
  EXPECT_EQ(bench.statistics().far_faults_waiting[1].value(), 1u);
}

// Two SMs replay a page that both want to store to and that came read-only.
TEST(GmmuFarFaults, TheLastReplayMayEndInARefusalThatIsNotTheFirst) {
  GmmuBench bench;
  bench.map(page + 1, 0x8000);
  bench.translate(100, 0, page, true);
  bench.translate(100, 1, page, true);
  bench.run_until(1000);
  bench.map(page, 0x7000, GmmuBench::present);
  bench.pages_mapped(1000, page);
  bench.unmap(1010, page);
  bench.run_until(1100);
  bench.sent();
  bench.translate(1100, 0, page, true);
  bench.translate(1200, 1, page, true);
  bench.run_until(2000);
  EXPECT_THAT(bench.sent(), testing::Contains(testing::HasSubstr("host unmapped 2560 + 1")));
}

TEST(GmmuFarFaults, AnAddressOutsideOfEveryBufferIsInvalid) {
  GmmuBench bench;
  bench.translate(100, 0, page);
  bench.translate(100, 2, page, true);
  bench.run_until(500);
  bench.translate(500, 2, page);  // a load beside the store, which the message is about
  bench.run_until(1000);
  bench.sent();
  bench.nothing_there(1000, page);
  bench.unmap(1100, page);  // waits for nobody
  bench.run_until(1200);
  EXPECT_THAT(bench.sent(),
              ElementsAreArray({"1000 sm0 invalid 2560", "1000 sm2 invalid 2560 store",
                                "1160 host unmapped 2560 + 1"}));
}

TEST(GmmuFarFaults, TellWhichPagesWereWalkedSinceTheLastOne) {
  GmmuBench bench;
  for (std::uint64_t i = 0; i < 3; ++i) bench.map(page + i, 0x7000 + i * page_bytes);
  for (std::uint64_t i = 0; i < 3; ++i)
    bench.translate(100 + 300 * static_cast<std::int64_t>(i), 0, page + i);
  bench.translate(1000, 0, page + 7);
  bench.run_until(1500);
  EXPECT_THAT(bench.notes(), ElementsAreArray({page, page + 1, page + 2}));
  bench.translate(1500, 0, page + 8);
  bench.run_until(2000);
  EXPECT_THAT(bench.notes(), IsEmpty());
}

}  // namespace lockstep::test::gmmu_far_faults_test
