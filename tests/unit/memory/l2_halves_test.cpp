/// An L2 in two halves: SMs 0 and 1 stand at the half of the partition, 2 and 3 at the other one.
#include "models/memory/l2/l2_halves.hpp"

#include <gtest/gtest.h>

#include "tests/unit/memory/partition_bench.hpp"

namespace lockstep::test::l2_halves_test {
namespace {

constexpr std::int64_t hit = 11;  // l2_timing_test.cpp
constexpr std::int64_t there_and_back = 2 * 15;
constexpr std::uint16_t near_sm = 0, far_sm = 2;

HalfParameters halves(std::uint32_t rate = 64) {
  return {Cycles{15}, rate};
}

struct L2HalvesTest : testing::Test {
  std::int64_t latency(std::int64_t cycle, std::uint16_t sm, std::uint64_t address = 0) {
    bench.load(cycle, address, 1, ++tag, sm);
    bench.run();
    return bench.departure(tag) - cycle;
  }

  PartitionBench bench{small_memory(), 2, {}, halves()};
  std::uint32_t tag = 0;
};

TEST_F(L2HalvesTest, AFarLoadCrossesOnceAndLeavesACopy) {
  latency(0, near_sm);
  EXPECT_EQ(latency(1000, near_sm), hit);
  EXPECT_EQ(latency(2000, far_sm), hit + there_and_back);
  EXPECT_EQ(latency(3000, far_sm), hit);
  EXPECT_EQ(latency(4000, far_sm + 1), hit);
  EXPECT_EQ(latency(5000, near_sm), hit);
}

TEST_F(L2HalvesTest, AStoreOfEitherHalfTakesTheCopyAway) {
  for (const std::uint16_t sm : {near_sm, far_sm}) {
    const std::int64_t start = 10000 * (1 + sm);
    latency(start, far_sm);
    EXPECT_EQ(latency(start + 1000, far_sm), hit);
    bench.store(start + 2000, 0, 42 + sm, ~0u, 1, 0, sm);
    EXPECT_EQ(latency(start + 3000, far_sm), hit + there_and_back);
    EXPECT_EQ(bench.answer(tag).value<std::uint32_t>(), 42u + sm);
  }
}

TEST_F(L2HalvesTest, AFarStoreAndAFarAtomicAlwaysCross) {
  latency(0, far_sm);
  bench.store(1000, 0, 1, ~0u, 1, 50, far_sm);
  bench.store(2000, 0, 1, ~0u, 1, 51, far_sm);
  bench.store(3000, 0, 1, ~0u, 1, 52, near_sm);
  bench.atomic_add(4000, 0, {1}, 53, far_sm);
  bench.run();
  EXPECT_EQ(bench.departure(50) - 1000, hit + there_and_back);
  EXPECT_EQ(bench.departure(51) - 2000, hit + there_and_back);
  EXPECT_EQ(bench.departure(52) - 3000, hit);
  EXPECT_EQ(bench.departure(53) - 4000, hit + there_and_back);
}

TEST_F(L2HalvesTest, ASectorThatTheCopyLacksCrosses) {
  latency(0, far_sm);
  bench.load(1000, 0, 2, 70, far_sm);
  bench.run();
  bench.load(2000, 0, 3, 71, far_sm);
  bench.run();
  EXPECT_GT(bench.departure(70) - 1000, hit + there_and_back) << "the home lacks it, too";
  EXPECT_EQ(bench.departure(71) - 2000, hit + 1) << "of two sectors";
}

TEST_F(L2HalvesTest, CopiesTakeTheRoomOfLines) {
  constexpr std::uint64_t lines = 16;  // as many as the slice holds
  std::int64_t cycle = 0;
  const auto that_hit = [&](std::uint16_t sm) {
    std::uint64_t hits = 0;
    for (std::uint64_t line = 0; line < lines; ++line)
      hits += latency(cycle += 1000, sm, line * line_bytes) == hit;
    return hits;
  };
  that_hit(near_sm);
  EXPECT_EQ(that_hit(near_sm), lines);
  that_hit(far_sm);
  EXPECT_LT(that_hit(near_sm), lines);
}

TEST(L2Halves, WhatCrossesAtOnceSharesTheLink) {
  PartitionBench wide(small_memory(), 2, {}, halves(64)), narrow(small_memory(), 2, {}, halves(1));
  for (PartitionBench* bench : {&wide, &narrow}) {
    for (std::uint32_t i = 0; i < 8; ++i) bench->store(0, 128 * i, 1, ~0u, 15, i, far_sm);
    bench->run();
  }
  // A store of a line and its acknowledgement are five flits.
  EXPECT_GE(narrow.departure(7), 7 * 5 + there_and_back);
  EXPECT_LT(wide.departure(7), narrow.departure(7));
}

TEST(L2Halves, RestoredWhatCrossesComesOut) {
  PartitionBench whole(small_memory(), 2, {}, halves()), first(small_memory(), 2, {}, halves()),
      second(small_memory(), 2, {}, halves());
  whole.load(0, 0, 1, 1, far_sm);
  first.load(0, 0, 1, 1, far_sm);
  whole.run();
  first.run_to(7);
  second.restore(first.save());
  second.run();
  EXPECT_EQ(second.departure(1), whole.departure(1));
}

}  // namespace
}  // namespace lockstep::test::l2_halves_test
