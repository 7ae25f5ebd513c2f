/// Faults on untouched pages, which the GPU handles by itself.
#include "tests/unit/vm/gmmu_bench.hpp"

namespace lockstep::test::gmmu_local_handling_test {
namespace {

using testing::Contains;
using testing::ElementsAreArray;
using testing::IsEmpty;
using testing::Not;

constexpr std::uint64_t page = 5 * 512;  // a granule begins here
constexpr std::uint64_t frames = 0x100'0000;

/// A GMMU whose tenant has 20 untouched pages, and frames for `granules`.
class GmmuLocalHandling : public testing::Test {
 protected:
  void begin(int granules, const GmmuOptions& options = {}) {
    bench_.emplace(options);
    for (std::uint64_t p = page; p < page + 20; ++p) bench_->entry(p) = GmmuBench::untouched;
    bench_->pages_mapped(0, page, 20);
    for (int i = 0; i < granules; ++i)
      bench_->give_frames(0, frames + static_cast<std::uint64_t>(i) * 0x10000);
    bench_->run_until(1000);
    bench_->sent();
  }
  bool is_mapped(std::uint64_t p) { return (bench_->entry(p) & GmmuBench::present) != 0; }

  std::optional<GmmuBench> bench_;
};

// virtual-memory-and-exceptions.md, section 19, test 11: 20 us from fault to replay.
TEST_F(GmmuLocalHandling, FaultIsReplayedAfterTheHandlersTimeWithTheWholeGranuleMapped) {
  begin(1);
  bench_->translate(1000, 0, page + 3);
  bench_->run_until(30000);
  EXPECT_THAT(bench_->sent(),
              ElementsAreArray({"1260 sm0 handled 2563", "21260 sm0 replay 2563",
                                "21260 host handled 2560 2561 2562 2563 2564 2565 2566 2567 2568 "
                                "2569 2570 2571 2572 2573 2574 2575 from 1260"}));
  EXPECT_EQ(bench_->entry(page + 3),
            frames + 3 * page_bytes + (GmmuBench::present | GmmuBench::writable));
  EXPECT_FALSE(is_mapped(page + 16));
  EXPECT_EQ(bench_->statistics().local_handlers[0].value(), 1u);
  EXPECT_EQ(bench_->statistics().far_faults[0].value(), 0u);
  EXPECT_EQ(bench_->statistics().local_handler_cycles[0].value(), 20000u);
}

TEST_F(GmmuLocalHandling, TwoSmsOnOneGranuleMakeOneHandler) {
  begin(2);
  bench_->translate(1000, 0, page);
  bench_->translate(5000, 1, page + 9, true);
  bench_->run_until(30000);
  const std::vector<std::string> sent = bench_->sent();
  EXPECT_THAT(sent, Contains("5260 sm1 handled 2569"));
  EXPECT_THAT(sent, Contains("21260 sm0 replay 2560"));
  EXPECT_THAT(sent, Contains("21260 sm1 replay 2569"));
  EXPECT_EQ(bench_->statistics().local_handlers[0].value(), 1u);
}

TEST_F(GmmuLocalHandling, HandlersRunSideBySideAsManyAsAnSmMayHave) {
  begin(2, {.local = {Time{20'000'000'000}, 1}});
  bench_->translate(1000, 0, page);
  bench_->translate(1010, 0, page + 16);
  bench_->run_until(50000);
  const std::vector<std::string> sent = bench_->sent();
  EXPECT_THAT(sent, Contains("21260 sm0 replay 2560"));
  EXPECT_THAT(sent, Contains("41260 sm0 replay 2576"));

  begin(2, {.local = {Time{20'000'000'000}, 1}});
  bench_->translate(1000, 0, page);
  bench_->translate(1000, 1, page + 16);
  bench_->run_until(50000);
  EXPECT_THAT(bench_->sent(), Contains("21260 sm1 replay 2576"));
  EXPECT_EQ(bench_->statistics().local_handlers_most.value(), 2u);
}

TEST_F(GmmuLocalHandling, WithoutFramesTheHostHandlesTheFault) {
  begin(0);
  bench_->translate(1000, 0, page);
  bench_->run_until(2000);
  EXPECT_THAT(bench_->sent(),
              ElementsAreArray({"1260 sm0 refused 2560", "1260 host far-fault 2560 of sm0"}));
  EXPECT_EQ(bench_->statistics().local_refused[0].value(), 1u);
}

TEST_F(GmmuLocalHandling, PageThatTheHostHasIsLeftToIt) {
  begin(0);
  bench_->translate(1000, 0, page);
  bench_->run_until(2000);
  bench_->give_frames(2000, frames);
  bench_->translate(2000, 1, page + 1);
  bench_->run_until(30000);
  EXPECT_TRUE(is_mapped(page + 1));
  EXPECT_EQ(bench_->entry(page), GmmuBench::untouched);
  EXPECT_THAT(bench_->sent(), Not(Contains(testing::HasSubstr("sm0 replay"))));
}

TEST_F(GmmuLocalHandling, UnmappingWaitsForTheHandlerAndGetsItsFrames) {
  begin(1);
  bench_->translate(1000, 0, page);
  bench_->run_until(2000);
  bench_->unmap(2000, page, 16);
  bench_->run_until(21300);
  EXPECT_THAT(bench_->unmapped(), IsEmpty());
  bench_->replayed(21300, 0, page);
  bench_->run_until(25000);
  ASSERT_EQ(bench_->unmapped().size(), 16u);
  EXPECT_EQ(PageTableEntry{bench_->unmapped()[3]}.address(), frames + 3 * page_bytes);
}

/// The exchange of rule 7: what it has taken, no handler maps.
TEST_F(GmmuLocalHandling, PageThatTheCpuHasClaimedGoesToTheHost) {
  begin(1);
  bench_->unmap(1000, page, 16);
  bench_->run_until(3000);
  EXPECT_EQ(bench_->unmapped()[0], GmmuBench::untouched);
  bench_->sent();
  bench_->translate(3000, 0, page);
  bench_->run_until(30000);
  EXPECT_THAT(bench_->sent(), Contains("3260 host far-fault 2560 of sm0"));
  EXPECT_EQ(bench_->entry(page), 0u);
}

TEST_F(GmmuLocalHandling, FixedWalksFindUntouchedPagesToo) {
  begin(1, {.walk_latency = 100});
  bench_->translate(1000, 0, page);
  bench_->run_until(22000);
  bench_->translate(22000, 1, page + 5);
  bench_->run_until(23000);
  const std::vector<std::string> sent = bench_->sent();
  EXPECT_THAT(sent, Contains("21120 sm0 replay 2560"));
  EXPECT_THAT(sent, Contains("22120 sm1 found 2565 at 0x1005000"));
}

TEST_F(GmmuLocalHandling, IsTheSameAfterSavingAndRestoring) {
  std::vector<std::vector<std::string>> sent;
  for (const bool interrupted : {false, true}) {
    begin(2, {.local = {Time{20'000'000'000}, 1}});
    bench_->translate(1000, 0, page);
    bench_->translate(1010, 0, page + 16);
    for (std::int64_t at = 2000; at < 50000; at += 997) {
      bench_->run_until(at);
      if (interrupted) bench_->save_and_restore();
    }
    sent.push_back(bench_->sent());
  }
  EXPECT_EQ(sent[0], sent[1]);
}

}  // namespace
}  // namespace lockstep::test::gmmu_local_handling_test
