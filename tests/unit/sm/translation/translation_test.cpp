/// Misses of the L1 TLB, refusals and replays, to the cycle (architecture.md, section 8, rule 6).
/// The GMMU is 45 cycles away and answers after 10.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/sm/parameters/sm_statistics.hpp"
#include "tests/unit/sm/machine/ideal_machine.hpp"
#include "tests/unit/sm/machine/kernel_text.hpp"

namespace lockstep::translation_test {
namespace {

using testing::ElementsAreArray;
using testing::IsEmpty;

constexpr std::int64_t round_trip = 45 + 10 + 45;
constexpr auto readable = PageTableEntry::present;
constexpr auto writable = PageTableEntry::present | PageTableEntry::writable;

IdealMachine::Options cold() {
  IdealMachine::Options options;
  options.knows_pages = false;
  return options;
}

/// One thread of `body`, %rd0 = page 0, %rd1 = page 1, %r0 = 7.
struct Bench : IdealMachine {
  explicit Bench(const std::string& body, const Options& options = cold())
      : IdealMachine(kernel_of(body), options) {
    record = true;
    put<std::uint32_t>(0, 100);
    put<std::uint32_t>(4096, 200);
  }
  void start(std::uint32_t threads = 1) {
    launch("k", {1, 1, 1}, {threads, 1, 1}, {address(0), address(4096), 7});
  }
  std::int64_t end(std::uint32_t threads = 1) {
    start(threads);
    return run();
  }
  void set(std::uint64_t page, std::uint64_t flags) {
    pages[page_of(0) + page] = {TranslationStatus::found,
                                PageTableEntry::of(page * page_bytes, flags)};
  }
  void refuse(std::uint64_t page) { pages[page_of(0) + page].status = TranslationStatus::refused; }
  void replay(std::int64_t at, std::uint64_t page) {
    post(0, at, MessageKind::replay,
         PageNotice{page == all_pages ? page : page_of(0) + page, 0, 0, 0});
  }
  std::vector<std::string> said() const {
    std::vector<std::string> texts;
    for (const Told& t : told) texts.push_back(t.text);
    return texts;
  }
  /// "load 0", "store 4096": what left for memory, by line.
  std::vector<std::string> sent() {
    sort_seen();
    std::vector<std::string> texts;
    for (const Seen& s : seen)
      texts.push_back((s.request.operation == MemoryOperation::load    ? "load "
                       : s.request.operation == MemoryOperation::store ? "store "
                                                                       : "atomic ") +
                      std::to_string(s.request.line));
    return texts;
  }
};

TEST(Translation, MissWaitsForTwiceTheLinkAndTheAnswer) {
  const std::string load = "ld.global.u32 %r1, [%rd0];\nadd.u32 %r1, %r1, 1;\n";
  IdealMachine::Options warm;
  Bench known(load, warm), unknown(load);
  EXPECT_EQ(unknown.end() - known.end(), round_trip);
  EXPECT_THAT(unknown.said(), ElementsAreArray({"translate 0"}));
  EXPECT_THAT(known.said(), IsEmpty());
  EXPECT_EQ(known.statistics().tenant[0].tlb_hits.value(), 1u);
  EXPECT_EQ(unknown.statistics().tenant[0].tlb_misses.value(), 1u);
}

/// Ideal translation.
TEST(Translation, PageThatTheSmWasToldOfCostsAHit) {
  const std::string body =
      "ld.global.u32 %r1, [%rd0];\nst.global.u32 [%rd1], %r1;\nst.global.u32 [%rd1+4], %r1;\n";
  IdealMachine::Options warm;
  Bench hits(body, warm), told(body);
  const auto tell = [&](Bench& bench) {
    PagesMapped mapped;
    mapped.span = {IdealMachine::page_of(0), 2, 0, 0, 0, 0};
    mapped.entries_at = 0x1000;
    const PageTableEntry entries[] = {PageTableEntry::of(0, writable),
                                      PageTableEntry::of(4096, writable)};
    bench.post(0, 1, MessageKind::pages_mapped, mapped, std::as_bytes(std::span(entries)));
    bench.run_to(10);
  };
  tell(told);
  const std::int64_t begin = told.cycle();
  EXPECT_EQ(told.end() - begin, hits.end());
  EXPECT_THAT(told.said(), ElementsAreArray({"uses 0", "uses 1", "written 1"}));
  EXPECT_EQ(told.statistics().tenant[0].tlb_hits.value(), 3u);
  EXPECT_EQ(told.statistics().tenant[0].tlb_misses.value(), 0u);
}

TEST(Translation, MissesOnPagesThatAFlushDroppedAreCounted) {
  Bench bench(
      "ld.global.u32 %r1, [%rd0];\nadd.u32 %r1, %r1, 1;\nbar.sync 0;\n"
      "ld.volatile.global.u32 %r2, [%rd0];\nld.global.u32 %r3, [%rd1];\n");
  bench.set(0, readable);
  bench.set(1, readable);
  bench.post(0, 150, MessageKind::flush, TlbFlush{});
  bench.end();
  EXPECT_THAT(bench.said(), ElementsAreArray({"translate 0", "translate 0", "translate 1"}));
  EXPECT_EQ(bench.statistics().tenant[0].tlb_misses.value(), 3u);
  EXPECT_EQ(bench.statistics().tenant[0].tlb_flush_misses.value(), 1u);
  EXPECT_EQ(bench.statistics().tenant[0].tlb_flushed.value(), 1u);
}

TEST(Translation, AccessesToAPageAskedForJoin) {
  Bench bench(
      "ld.global.u32 %r1, [%rd0];\nld.global.u32 %r2, [%rd0+128];\nld.global.u32 %r3, [%rd0];\n");
  bench.end();
  EXPECT_THAT(bench.said(), ElementsAreArray({"translate 0"}));
  EXPECT_THAT(bench.sent(), ElementsAreArray({"load 0", "load 128"}));
  EXPECT_EQ(bench.statistics().tenant[0].tlb_merges.value(), 2u);
  EXPECT_EQ(bench.statistics().tenant[0].tlb_lookups.value(), 3u);
}

TEST(Translation, OthersGoOnUnderAMiss) {
  Bench bench(R"(
    ld.global.u32 %r1, [%rd0];
    add.u32 %r1, %r1, 1;
    ld.global.u32 %r2, [%rd1];
    ld.global.u32 %r3, [%rd0+128];
    ld.global.u32 %r4, [%rd1+4096];
  )");
  bench.end();
  EXPECT_THAT(bench.said(), ElementsAreArray({"translate 0", "translate 1", "translate 2"}));
  EXPECT_THAT(bench.sent(), ElementsAreArray({"load 0", "load 128", "load 4096", "load 8192"}));
}

TEST(Translation, NothingPassesWhatIsParkedForItsPage) {
  Bench bench(R"(
    st.global.u32 [%rd1], %r0;
    ld.global.u32 %r1, [%rd1];
    st.global.u32 [%rd0], %r1;
  )");
  bench.end();
  EXPECT_EQ(bench.get<std::uint32_t>(0), 7u);
  EXPECT_THAT(bench.sent(), ElementsAreArray({"store 4096", "load 4096", "store 0"}));
}

TEST(Translation, LoadsDoNotPassAStoreToAReadOnlyPage) {
  Bench bench(R"(
    ld.global.u32 %r1, [%rd1];
    add.u32 %r1, %r1, 1;
    st.global.u32 [%rd1], %r0;
    ld.global.u32 %r2, [%rd1];
    st.global.u32 [%rd0], %r2;
  )");
  bench.set(1, readable);
  bench.start();
  bench.run_to(1500);
  EXPECT_THAT(bench.said(), ElementsAreArray({"translate 1", "translate 1 w"}));
  EXPECT_THAT(bench.sent(), ElementsAreArray({"load 4096"}));
  bench.set(1, writable);
  bench.replay(2000, 1);
  bench.run();
  EXPECT_EQ(bench.get<std::uint32_t>(0), 7u);
  EXPECT_THAT(bench.said(),
              ElementsAreArray({"translate 1", "translate 1 w", "translate 1 w", "written 1",
                                "replayed 1", "translate 0 w", "written 0"}));
}

TEST(Translation, RefusedPageAsksAgainAtItsReplay) {
  Bench bench("ld.global.u32 %r1, [%rd1];\nst.global.u32 [%rd0], %r1;\n");
  bench.refuse(1);
  bench.start();
  bench.run_to(1000);
  EXPECT_THAT(bench.sent(), IsEmpty());
  bench.set(1, writable);
  bench.replay(2000, 1);
  bench.run();
  EXPECT_EQ(bench.get<std::uint32_t>(0), 200u);
  ASSERT_GE(bench.told.size(), 3u);
  EXPECT_EQ(bench.told[1].text, "translate 1");
  EXPECT_EQ(bench.told[1].departure, 2000);
  EXPECT_EQ(bench.told[2].text, "replayed 1");
  EXPECT_EQ(bench.told[2].departure, 2000 + round_trip);
}

TEST(Translation, ReplayOfAllPagesAsksForEachRefused) {
  IdealMachine::Options options = cold();
  options.replay = ReplayMode::broadcast;
  Bench bench("ld.global.u32 %r1, [%rd1];\nld.global.u32 %r2, [%rd0];\n", options);
  bench.refuse(0);
  bench.refuse(1);
  bench.start();
  bench.run_to(1000);
  // A page by name to those listed, who then say when it is through; all pages to everybody.
  bench.set(1, writable);
  bench.replay(2000, 1);
  bench.replay(2000, all_pages);
  bench.run_to(3000);
  bench.set(0, writable);
  bench.replay(4000, 0);
  bench.replay(4000, all_pages);
  bench.run();
  EXPECT_THAT(bench.said(),
              ElementsAreArray({"translate 1", "translate 0", "translate 1", "translate 0",
                                "replayed 1", "translate 0", "replayed 0"}));
}

TEST(Translation, ReplayThatNobodyWaitsForIsAnsweredAtOnce) {
  Bench bench("");
  bench.replay(500, 3);
  bench.run_to(1000);
  EXPECT_THAT(bench.said(), ElementsAreArray({"replayed 3"}));
  EXPECT_EQ(bench.told[0].departure, 500);
}

TEST(Translation, WarpsThatWaitForAFaultAreCountedByTheCycle) {
  // Two warps: each loads page 0, which is there, then page 1, which is not, and goes on without.
  Bench bench("ld.global.u32 %r1, [%rd0];\nld.global.u32 %r2, [%rd1];\nmov.u32 %r3, 1;\n");
  bench.refuse(1);
  bench.start(64);
  bench.run_to(1000);
  ASSERT_EQ(bench.told.size(), 2u);
  ASSERT_EQ(bench.told[1].text, "translate 1");
  const std::int64_t refused = bench.told[1].departure + round_trip;
  const auto waited = [&] {
    return std::int64_t(bench.statistics().tenant[0].fault_warp_cycles.value());
  };
  EXPECT_EQ(waited(), 2 * (bench.cycle() - refused));
  // A second refusal is no new fault.
  bench.replay(1500, 1);
  bench.run_to(1550);
  EXPECT_EQ(waited(), 2 * (bench.cycle() - refused));
  bench.set(1, writable);
  bench.replay(2000, 1);
  bench.run();
  EXPECT_EQ(waited(), 2 * (2000 + round_trip - refused));
  EXPECT_EQ(bench.statistics().tenant[0].fault_page_cycles.value(),
            std::uint64_t(2000 + round_trip - refused));
}

TEST(Translation, WarpThatComesLaterWaitsFromThenOn) {
  // The first warp loads at once, the second one after a loop.
  Bench bench(R"(
      mov.u32 %r1, %tid.x;
      setp.lt.u32 %p1, %r1, 32;
      @%p1 bra load;
      mov.u32 %r20, 0;
wait: add.u32 %r20, %r20, 1;
      setp.lt.u32 %p2, %r20, 100;
      @%p2 bra wait;
load: ld.global.u32 %r2, [%rd1];
  )");
  bench.refuse(1);
  bench.start(64);
  bench.run_to(100);
  while (bench.statistics().tenant[0].tlb_merges.value() == 0) bench.run_to(bench.cycle() + 2);
  const std::int64_t joined = bench.cycle();
  const std::int64_t refused = bench.told[0].departure + round_trip;
  ASSERT_GT(joined, refused);
  bench.run_to(joined + 1000);
  EXPECT_EQ(std::int64_t(bench.statistics().tenant[0].fault_warp_cycles.value()),
            joined - refused + 2 * (bench.cycle() - joined));
}

TEST(Translation, EndedTenantWaitsForNoFault) {
  Bench bench("ld.global.u32 %r2, [%rd1];\n");
  bench.refuse(1);
  bench.start(64);
  bench.post(0, 1500, MessageKind::abort_tenant, TenantNotice{0, {}});
  bench.run_to(3000);
  const std::int64_t refused = bench.told[0].departure + round_trip;
  EXPECT_EQ(std::int64_t(bench.statistics().tenant[0].fault_warp_cycles.value()),
            2 * (1500 - refused));
}

TEST(Translation, BlockedTlbHoldsEveryLaterAccess) {
  for (const ReplayMode mode : {ReplayMode::listed, ReplayMode::block_tlb}) {
    IdealMachine::Options options = cold();
    options.replay = mode;
    Bench bench(R"(
      ld.global.u32 %r1, [%rd0];
      add.u32 %r1, %r1, 1;
      ld.global.u32 %r2, [%rd1];
      mov.u32 %r20, 0;
wait: add.u32 %r20, %r20, 1;
      setp.lt.u32 %p1, %r20, 50;
      @%p1 bra wait;
      ld.global.u32 %r3, [%rd0+128];
    )",
                options);
    bench.refuse(1);
    bench.start();
    bench.run_to(5000);
    if (mode == ReplayMode::listed) {
      EXPECT_THAT(bench.sent(), ElementsAreArray({"load 0", "load 128"}));
    } else {
      EXPECT_THAT(bench.sent(), ElementsAreArray({"load 0"}));
    }
    bench.set(1, writable);
    bench.replay(6000, 1);
    bench.run();
    EXPECT_EQ(bench.sent().size(), 3u);
    EXPECT_EQ(bench.statistics().tenant[0].tlb_stall_cycles.value() > 0,
              mode == ReplayMode::block_tlb);
  }
}

TEST(Translation, FullMshrsStopTheLoadStoreUnit) {
  IdealMachine::Options options = cold();
  options.l1_tlb.mshrs = 1;
  Bench bench("ld.global.u32 %r1, [%rd0];\nld.global.u32 %r2, [%rd1];\n", options);
  bench.end();
  ASSERT_EQ(bench.told.size(), 2u);
  EXPECT_EQ(bench.told[1].departure - bench.told[0].departure, round_trip + 1)
      << "the first page's line leaves first";
}

TEST(Translation, RefusedPagesHoldNoMshr) {
  IdealMachine::Options options = cold();
  options.l1_tlb.mshrs = 1;
  Bench bench("ld.global.u32 %r1, [%rd0];\nld.global.u32 %r2, [%rd1];\n", options);
  bench.refuse(0);
  bench.start();
  bench.run_to(1000);
  EXPECT_THAT(bench.said(), ElementsAreArray({"translate 0", "translate 1"}));
  EXPECT_THAT(bench.sent(), ElementsAreArray({"load 4096"}));
}

TEST(Translation, FirstStoreToAPageIsTold) {
  Bench bench(R"(
    ld.global.u32 %r1, [%rd0];
    st.global.u32 [%rd0], %r1;
    st.global.u32 [%rd0+128], %r1;
    red.global.add.u32 [%rd0+256], 1;
  )");
  bench.end();
  EXPECT_THAT(bench.said(), ElementsAreArray({"translate 0", "written 0"}));
}

TEST(Translation, DirtyPagesNeedNoTelling) {
  Bench bench("st.global.u32 [%rd0], %r0;\n");
  bench.set(0, writable | PageTableEntry::dirty);
  bench.end();
  EXPECT_THAT(bench.said(), ElementsAreArray({"translate 0 w"}));
}

TEST(Translation, RemotePagesGoToTheHostUncached) {
  Bench bench(
      "ld.global.u32 %r1, [%rd1];\nadd.u32 %r1, %r1, 1;\nld.global.u32 %r2, [%rd1];\n"
      "st.global.u32 [%rd1], %r1;\n");
  bench.set(1, writable | PageTableEntry::remote);
  bench.end();
  EXPECT_THAT(bench.sent(), ElementsAreArray({"load 4096", "load 4096", "store 4096"}));
  EXPECT_THAT(bench.said(), ElementsAreArray({"translate 1"}))
      << "the host knows what is written there";
}

TEST(Translation, LargePageReleasesWhatWaitsForItsOthers) {
  Bench bench("ld.global.u32 %r1, [%rd0];\nld.global.u32 %r2, [%rd1];\n");
  bench.set(0, writable | PageTableEntry::large);
  bench.set(1, writable);
  bench.pages[IdealMachine::page_of(0) + 1].entry =
      PageTableEntry::of(0, writable | PageTableEntry::large);
  bench.end();
  EXPECT_THAT(bench.said(), ElementsAreArray({"translate 0", "translate 1"}));
  bench.sort_seen();
  ASSERT_EQ(bench.seen.size(), 2u);
  EXPECT_EQ(bench.seen[1].departure - bench.seen[0].departure, 1)
      << "not a cycle after its own answer";
  EXPECT_EQ(bench.seen[1].request.line, 4096u);
}

TEST(Translation, AddressesBeyondThePageTablesAreTheTenantsMistake) {
  Bench bench("mov.u64 %rd5, 0x1000000000000;\nst.global.u32 [%rd5], %r0;\n");
  bench.start();
  bench.run_to(500);
  ASSERT_EQ(bench.told.size(), 1u);
  EXPECT_EQ(bench.told[0].text,
            "violation test.ptx:17|tenant alone, kernel k, block (0, 0, 0), thread (0, 0, 0): "
            "store to 0x1000000000000, which is outside of every buffer|an index runs over a "
            "buffer, or the buffer was freed|");
}

TEST(Translation, PrefetchOfNothingIsDropped) {
  Bench bench("mov.u64 %rd5, 0x7000000000;\nprefetch.global.L1 [%rd5];\n");
  bench.end();
  EXPECT_EQ(bench.told.size(), 1u);
}

}  // namespace
}  // namespace lockstep::translation_test
