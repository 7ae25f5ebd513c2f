/// What MeDiC is compared with: random, pc-bypass, pcal and eaf.
#include <gtest/gtest.h>

#include "models/memory/cache_policy/evicted_filter.hpp"
#include "tests/unit/memory/cache_policy/sm_side_bench.hpp"
#include "tests/unit/memory/partition_bench.hpp"
#include "tests/unit/memory/partition_policies.hpp"

namespace lockstep::test::bypass_policies_test {
namespace {

unsigned bypassing(SmSideBench& bench, std::int64_t cycle) {
  unsigned bits = 0;
  for (std::uint16_t warp = 0; warp < SmSideBench::warps; ++warp)
    if ((bench.marks(warp, cycle) & mark_bypass) != 0) bits |= 1u << warp;
  return bits;
}

TEST(RandomBypass, AllWarpsOrNoneAtTheEndsOfTheRange) {
  SmSideBench none("{name: random, share: 0}"), all("{name: random, share: 1}");
  EXPECT_EQ(bypassing(none, 5), 0u);
  EXPECT_EQ(bypassing(all, 5), 0xffu);
}

TEST(RandomBypass, TheSameWarpsForAPeriodAndOthersInTheNext) {
  SmSideBench bench("{name: random, period: 1000}");
  const unsigned first = bypassing(bench, 0);
  EXPECT_EQ(bypassing(bench, 999), first);
  unsigned others = 0;
  for (std::int64_t period = 1; period < 20; ++period)
    others += bypassing(bench, period * 1000) != first;
  EXPECT_GT(others, 10u);
}

bool instruction_bypasses(SmSideBench& bench, std::uint32_t pc, std::int64_t cycle) {
  return (bench.marks(0, cycle, pc) & mark_bypass) != 0;
}

TEST(PcBypass, AnInstructionThatMostlyMissesBypassesWhateverItsWarp) {
  SmSideBench bench("pc-bypass");
  bench.answer(1, 30, 6, 10, 40);
  bench.answer(1, 30, 7, 10, 41);
  EXPECT_TRUE(instruction_bypasses(bench, 40, 20));
  EXPECT_FALSE(instruction_bypasses(bench, 41, 20));
  EXPECT_FALSE(instruction_bypasses(bench, 42, 20));
}

TEST(PcBypass, InstructionsThatShareAPlaceShareTheirFate) {
  SmSideBench bench("pc-bypass");
  bench.answer(1, 30, 0, 10, 5);
  EXPECT_TRUE(instruction_bypasses(bench, 5 << 7, 20));       // folded: 5
  EXPECT_TRUE(instruction_bypasses(bench, 1 << 7 | 4, 20));   // 1 ^ 4
  EXPECT_FALSE(instruction_bypasses(bench, 1 << 7 | 5, 20));  // 4
}

TEST(PcBypass, TheTableBeginsAnewEachPeriod) {
  SmSideBench bench("pc-bypass");
  bench.answer(1, 30, 0, 10, 40);
  EXPECT_FALSE(instruction_bypasses(bench, 40, 100'000));
}

bool has_token(SmSideBench& bench, std::uint16_t warp, std::int64_t cycle) {
  return (bench.marks(warp, cycle) & mark_may_allocate) != 0;
}

TEST(Pcal, TokensGoToWarpsInTheOrderOfTheirRequests) {
  SmSideBench bench("{name: pcal, tokens: 2}");
  EXPECT_TRUE(has_token(bench, 5, 10));
  EXPECT_TRUE(has_token(bench, 2, 11));
  EXPECT_FALSE(has_token(bench, 0, 12));
  EXPECT_TRUE(has_token(bench, 5, 13));
}

TEST(Pcal, WarpsThatUsedTheL2GoFirstInTheNextPeriod) {
  SmSideBench bench("{name: pcal, tokens: 2}");
  for (const std::uint16_t warp : {7, 4}) has_token(bench, warp, 10);
  EXPECT_FALSE(has_token(bench, 0, 100'000));  // 4 and 7 have them
  EXPECT_TRUE(has_token(bench, 7, 100'001));
  // Only 0 and 7 used it in that period.
  EXPECT_TRUE(has_token(bench, 0, 200'000));
  EXPECT_FALSE(has_token(bench, 4, 200'001));
}

bool second_load_hits(const std::string& policy, std::uint8_t marks) {
  PartitionBench bench(small_memory(), 2, {cache_policy_named(policy, small_memory()), nullptr});
  MemoryRequest r = PartitionBench::request(MemoryOperation::load, 0, 1, 1);
  r.marks = marks;
  bench.send(0, r);
  r.tag = 2;
  bench.send(1000, r);
  bench.run();
  return bench.answer(2).response.l2_hits != 0;
}

TEST(Pcal, OnlyWithATokenALineStays) {
  EXPECT_TRUE(second_load_hits("pcal", mark_may_allocate));
  EXPECT_FALSE(second_load_hits("pcal", 0));
}

TEST(EvictedFilter, KnowsWhatLeftAndForgetsItWhenItIsFull) {
  EvictedFilter filter(64);
  for (std::uint64_t line = 0; line < 64; ++line) filter.add(line * 5);
  for (std::uint64_t line = 0; line < 64; ++line) EXPECT_TRUE(filter.has(line * 5));
  unsigned mistaken = 0;
  for (std::uint64_t line = 1000; line < 2000; ++line) mistaken += filter.has(line);
  EXPECT_LT(mistaken, 150u);
  filter.add(7777);
  EXPECT_TRUE(filter.has(7777));
  EXPECT_FALSE(filter.has(5) && filter.has(10) && filter.has(15));
}

/// The four ways of a set are loaded, then one line more that the filter knows or does not.
TEST(Eaf, OnlyALineThatCameBackOutlivesTheNextOne) {
  PartitionBench bench(
      small_memory(), 2,
      {make_cache_policy(policy_setup(
           policy_written<cache_policies>("{name: eaf, recent: 1000000}"), small_memory())),
       nullptr});
  std::uint32_t tag = 0;
  const auto hits = [&](std::uint64_t line) {
    bench.load(bench.reached() + 1000, line * 4 * line_bytes % (1 << 20), 1, ++tag);
    bench.run();
    return bench.answer(tag).response.l2_hits != 0;
  };
  // XOR of higher bits spreads lines over sets: take those that meet in one.
  std::vector<std::uint64_t> set{0};
  const L2Bank probe(small_memory().l2, 0, 1);
  for (std::uint64_t line = 1; set.size() < 7; ++line)
    if (probe.tags().set_begin(static_cast<std::uint32_t>(line * 4)) == probe.tags().set_begin(0))
      set.push_back(line);
  for (unsigned i = 0; i < 5; ++i) EXPECT_FALSE(hits(set[i]));
  // Each came in as the next to go, so that 3 went for 4, and 3 is known.
  EXPECT_TRUE(hits(set[0]));
  EXPECT_TRUE(hits(set[4]));
  EXPECT_FALSE(hits(set[3]));
  EXPECT_FALSE(hits(set[5]));
  EXPECT_FALSE(hits(set[6]));  // over 5, which nobody knows
  EXPECT_TRUE(hits(set[3]));
}

}  // namespace
}  // namespace lockstep::test::bypass_policies_test
