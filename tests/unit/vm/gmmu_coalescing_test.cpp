/// Pages that become a large page in place, and go again.
/// Source: memory-interference.md, section 11 (A18, A20, A21, A24).
#include "tests/unit/vm/gmmu_bench.hpp"

namespace lockstep::test::gmmu_coalescing_test {
namespace {

using testing::Each;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::Not;

constexpr std::uint64_t page = 5 * 512;
constexpr std::uint64_t frames = 0x40'0000;
constexpr std::uint64_t present = GmmuBench::present, writable = GmmuBench::writable,
                        accessed = GmmuBench::accessed, dirty = GmmuBench::dirty,
                        large = GmmuBench::large, disabled = PageTableEntry::disabled;

void map_one_by_one(GmmuBench& bench) {
  for (std::uint64_t i = 0; i < 512; ++i) bench.map(page + i, frames + i * page_bytes);
}

class GmmuCoalescing : public testing::TestWithParam<ShootdownGranularity> {};

TEST_P(GmmuCoalescing, FlushesNothingAndDisablesTheEntriesInTheBackground) {
  GmmuOptions options;
  options.shootdown = GetParam();
  GmmuBench bench(options);
  map_one_by_one(bench);
  bench.translate(100, 0, page + 7);
  bench.run_until(500);
  bench.sent();
  bench.coalesced(500, page);
  bench.run_until(700);
  EXPECT_THAT(bench.sent(), testing::IsEmpty());
  EXPECT_EQ(bench.statistics().entries_dropped[0].value(), 0u);
  for (std::uint64_t i = 0; i < 512; ++i)
    EXPECT_EQ(bench.entry(page + i) & ~accessed,
              (frames + i * page_bytes) | present | writable | disabled);
}

INSTANTIATE_TEST_SUITE_P(Every, GmmuCoalescing,
                         testing::Values(ShootdownGranularity::entry, ShootdownGranularity::whole,
                                         ShootdownGranularity::none));

TEST(GmmuCoalesced, WalksFindTheLargePageWithFourReadsAndTlbsKeepWhatIsRight) {
  GmmuBench bench;
  map_one_by_one(bench);
  bench.translate(100, 0, page + 7);
  bench.run_until(500);
  bench.coalesced(500, page);
  bench.run_until(1000);
  bench.sent();
  bench.asked_of_memory();
  bench.translate(1000, 1, page + 7);  // of the base entry that the TLB has
  bench.translate(1100, 1, page + 8);
  bench.translate(1500, 1, page + 9);
  bench.run_until(2000);
  EXPECT_THAT(bench.sent(), ElementsAreArray({"1020 sm1 found 2567 at 0x407000",
                                              "1360 sm1 found 2568 at 0x400000 large",
                                              "1510 sm1 found 2569 at 0x400000 large"}));
  EXPECT_THAT(
      bench.asked_of_memory(),
      ElementsAreArray({"1120 read 1", "1180 read 2", "1240 read 3", "1300 read 4", "1360 or 1"}));
}

TEST(GmmuCoalesced, WalkCacheForgetsThatThePageWasNoLargeOne) {
  GmmuOptions options;
  options.translation = "page-walk-cache";
  GmmuBench bench(options);
  map_one_by_one(bench);
  bench.translate(100, 0, page + 7);
  bench.run_until(1000);
  bench.coalesced(1000, page);
  bench.run_until(1100);
  bench.sent();
  bench.translate(1100, 1, page + 8);
  bench.run_until(2000);
  ASSERT_EQ(bench.sent().size(), 1u);
  EXPECT_NE(bench.entry(page) & accessed, 0u) << "the first entry stands for all";
}

TEST(GmmuSplintering, ClearsTheEntriesFirstThenTheLargeBit) {
  GmmuBench bench;
  map_one_by_one(bench);
  bench.coalesced(100, page);
  bench.run_until(1000);
  bench.asked_of_memory();
  bench.unmap(1000, page, 512);
  bench.run_until(2000);
  std::vector<std::string> asked(32, "1000 exchange 16");
  asked.push_back("1060 and 1");
  EXPECT_THAT(bench.asked_of_memory(), ElementsAreArray(asked));
  EXPECT_EQ(bench.directory_entry(page) & large, 0u);
}

TEST(GmmuSplintering, EveryPageHasTheBitsOfTheLargeEntryAndThoseItHadBefore) {
  GmmuBench bench;
  map_one_by_one(bench);
  bench.entry(page + 3) |= dirty;
  bench.coalesced(100, page);
  bench.translate(200, 0, page + 9);
  bench.run_until(1000);
  bench.unmap(1000, page, 512);
  bench.run_until(1500);
  bench.shot_down(1500, 0);
  bench.run_until(2000);
  for (std::uint64_t i = 0; i < 512; ++i)
    EXPECT_EQ(bench.unmapped().at(i) & (accessed | dirty), accessed | (i == 3 ? dirty : 0)) << i;
}

TEST(GmmuSplintering, StoreToAnyPageOfTheLargeOneMakesAllDirty) {
  GmmuBench bench;
  map_one_by_one(bench);
  bench.coalesced(100, page);
  bench.translate(200, 0, page + 9, true);
  bench.run_until(500);
  bench.written(500, 0, page + 9);
  bench.run_until(1000);
  bench.unmap(1000, page, 512);
  bench.run_until(1500);
  bench.shot_down(1500, 0);
  bench.run_until(2000);
  for (std::uint64_t i = 0; i < 512; ++i) EXPECT_NE(bench.unmapped().at(i) & dirty, 0u) << i;
}

TEST(GmmuSplintering, WalkThatHasReadTheLargeBitBeginsAgain) {
  GmmuBench bench;
  map_one_by_one(bench);
  bench.coalesced(100, page);
  bench.run_until(1000);
  bench.sent();
  bench.translate(1000, 0, page + 9);  // reads level 4 at 1200
  bench.run_until(1230);
  bench.unmap(1230, page, 512);
  bench.run_until(2000);
  const std::vector<std::string> sent = bench.sent();
  EXPECT_THAT(sent, Each(Not(HasSubstr("found"))));
  EXPECT_THAT(sent, testing::Contains(HasSubstr("refused 2569")));
}

}  // namespace
}  // namespace lockstep::test::gmmu_coalescing_test
