/// Warp types, threshold, bypass and insertion of MeDiC: tests A1 to A4 and A6 of
/// memory-interference.md, section 11.
#include "models/memory/cache_policy/medic/medic.hpp"

#include <gtest/gtest.h>

#include <array>

#include "models/memory/cache_policy/hit_counts.hpp"
#include "models/memory/cache_policy/medic/hit_spread.hpp"
#include "tests/unit/memory/cache_policy/sm_side_bench.hpp"
#include "tests/unit/memory/partition_bench.hpp"
#include "tests/unit/memory/partition_policies.hpp"

namespace lockstep::test::medic_test {
namespace {

constexpr std::uint8_t typed(WarpType type) {
  return static_cast<std::uint8_t>(static_cast<unsigned>(type) | mark_has_class);
}
constexpr std::uint8_t mostly_missing = typed(WarpType::mostly_miss) | mark_bypass;
constexpr std::uint8_t balanced = typed(WarpType::balanced);
constexpr std::uint8_t mostly_hitting = typed(WarpType::mostly_hit) | mark_mostly_hit;
constexpr std::uint8_t all_hitting = typed(WarpType::all_hit) | mark_mostly_hit;

std::uint8_t judged(unsigned lookups, unsigned hits) {
  SmSideBench bench("medic");
  bench.answer(3, lookups, hits, 10);
  return bench.marks(3, 20);
}

TEST(WarpTypes, ThirtyLookupsDecide) {
  EXPECT_EQ(judged(30, 0), mostly_missing);
  EXPECT_EQ(judged(30, 6), mostly_missing);  // 20 %
  EXPECT_EQ(judged(30, 7), balanced);
  EXPECT_EQ(judged(30, 20), balanced);
  EXPECT_EQ(judged(30, 21), mostly_hitting);  // 70 %
  EXPECT_EQ(judged(30, 30), all_hitting);
}

TEST(WarpTypes, AWarpThatIsNotJudgedYetIsBalanced) {
  EXPECT_EQ(judged(0, 0), balanced);
  EXPECT_EQ(judged(29, 0), balanced);
}

TEST(WarpTypes, EachWarpSlotHasItsOwn) {
  SmSideBench bench("medic");
  bench.answer(3, 30, 0, 10);
  EXPECT_EQ(bench.marks(2, 20), balanced);
}

TEST(WarpTypes, WhatWentPastTheL2IsNotCounted) {
  SmSideBench bench("medic");
  bench.answer(3, 29, 29, 10);
  for (int i = 0; i < 5; ++i) bench.answer_past_l2(3, 10);
  EXPECT_EQ(bench.marks(3, 20), balanced);
  bench.answer(3, 1, 1, 10);
  EXPECT_EQ(bench.marks(3, 20), all_hitting);
}

TEST(WarpTypes, APeriodBeginsWithProfilingUnderTheOldType) {
  SmSideBench bench("medic");
  bench.answer(3, 30, 0, 10);
  EXPECT_EQ(bench.marks(3, 99'999), mostly_missing);
  EXPECT_EQ(bench.marks(3, 100'000), typed(WarpType::mostly_miss));  // no bypass
  bench.answer(3, 29, 29, 100'001);
  EXPECT_EQ(bench.marks(3, 100'002), typed(WarpType::mostly_miss));
  bench.answer(3, 1, 1, 100'003);
  EXPECT_EQ(bench.marks(3, 100'004), all_hitting);
}

TEST(WarpTypes, LinesOfAWarpThatIsProfiledComeInAsBalancedOrAsWithoutInsertionIfAsked) {
  const auto profiled_are = [](const std::string& lines, unsigned marks) {
    SmSideBench bench("{name: medic, while_profiled: " + lines + "}");
    EXPECT_EQ(bench.marks(3, 5), marks);
    bench.answer(2, 30, 30, 10);
    bench.answer(3, 30, 0, 10);
    EXPECT_EQ(bench.marks(2, 99'999), all_hitting);
    EXPECT_EQ(bench.marks(3, 99'999), mostly_missing);
    // In the DRAM's queues a warp has the place that it had.
    EXPECT_EQ(bench.marks(2, 100'000), marks | mark_mostly_hit);
    EXPECT_EQ(bench.marks(3, 100'000), marks);
    bench.answer(3, 29, 0, 100'001);
    EXPECT_EQ(bench.marks(3, 100'002), marks);
    bench.answer(3, 1, 0, 100'003);
    EXPECT_EQ(bench.marks(3, 100'004), mostly_missing);
  };
  profiled_are("balanced", balanced);
  profiled_are("plain", balanced | mark_plain);
}

TEST(WarpTypes, ATypeStaysForItsPeriod) {
  SmSideBench bench("medic");
  bench.answer(3, 30, 30, 10);
  bench.answer(3, 400, 0, 20);
  EXPECT_EQ(bench.marks(3, 30), all_hitting);
}

TEST(WarpTypes, TheThresholdIsTheOneThatWasTold) {
  SmSideBench bench("medic");
  bench.tell(10);
  bench.answer(3, 30, 4, 10);
  EXPECT_EQ(bench.marks(3, 20), balanced);
  bench.answer(2, 30, 3, 10);
  EXPECT_EQ(bench.marks(2, 20), mostly_missing);
}

TEST(WarpTypes, SectorsOnTheirWayAreMissesOrHitsAsAsked) {
  const auto marks = [](const std::string& policy) {
    SmSideBench bench(policy);
    bench.answer(3, 30, 0, 10, 0, 2);  // of sectors 0 and 1, one was there and one on its way
    return bench.marks(3, 20);
  };
  EXPECT_EQ(marks("medic"), mostly_missing);
  EXPECT_EQ(marks("{name: medic, arriving: hit}"), all_hitting);
}

TEST(WarpTypes, WithoutBypassTheyAreMarkedAndNothingGoesPast) {
  SmSideBench bench("{name: medic, bypass: false}");
  bench.answer(3, 30, 0, 10);
  EXPECT_EQ(bench.marks(3, 20), typed(WarpType::mostly_miss));
}

TEST(HitSpread, IsFromTheFirstToTheLastAnswerOfALoadWhoseRequestsAllHit) {
  HitSpread spread;
  spread.sent(7, Time{100});
  spread.sent(7, Time{103});
  EXPECT_EQ(spread.answered(7, true, Time{200}), std::nullopt);
  EXPECT_EQ(spread.answered(7, true, Time{250}), Time{47}) << "it left over three";
  spread.sent(7, Time{300});
  spread.sent(7, Time{300});
  EXPECT_EQ(spread.answered(7, false, Time{400}), std::nullopt);
  EXPECT_EQ(spread.answered(7, true, Time{450}), std::nullopt) << "one missed";
  spread.sent(7, Time{500});
  EXPECT_EQ(spread.answered(7, true, Time{600}), std::nullopt) << "it was alone";
}

TEST(HitSpread, AnotherLoadMeanwhileIsNotFollowed) {
  HitSpread spread;
  spread.sent(7, Time{100});
  spread.sent(9, Time{101});
  spread.sent(7, Time{102});
  EXPECT_EQ(spread.answered(9, false, Time{150}), std::nullopt);
  EXPECT_EQ(spread.answered(7, true, Time{200}), std::nullopt);
  EXPECT_EQ(spread.answered(7, true, Time{210}), Time{8});
}

TEST(HitCounts, AreHalvedAt512Lookups) {
  HitCounts counts;
  for (int i = 0; i < 511; ++i) counts.add(i % 4 == 0);
  EXPECT_EQ(counts.lookups(), 511u);
  EXPECT_EQ(counts.hits(), 128u);
  counts.add(false);
  EXPECT_EQ(counts.lookups(), 256u);
  EXPECT_EQ(counts.hits(), 64u);
}

std::vector<std::uint64_t> decided(EpochController& controller, std::uint64_t misses) {
  controller.add(std::array<std::uint64_t, 2>{50, misses / 2});
  controller.add(std::array<std::uint64_t, 2>{50, misses - misses / 2});
  std::vector<std::uint64_t> values;
  controller.decide(1, values);
  return values;
}

TEST(MedicThreshold, FallsByFivePointsForEachFiveOfTheMissRateAndRecovers) {
  using Values = std::vector<std::uint64_t>;
  const auto controller = SmSideBench("medic").controller();
  EXPECT_EQ(decided(*controller, 40), Values{});  // the reference; stays 20
  EXPECT_EQ(decided(*controller, 45), Values{15});
  EXPECT_EQ(decided(*controller, 52), Values{10});
  EXPECT_EQ(decided(*controller, 41), Values{20});
  EXPECT_EQ(decided(*controller, 30), Values{});
  EXPECT_EQ(decided(*controller, 99), Values{0});
}

/// Sixteen ways, one set: what `medic` evicts.
class MedicSet {
 public:
  explicit MedicSet(const std::string& policy = "medic")
      : bench_(memory(), 2,
               {make_cache_policy(policy_setup(policy_written<cache_policies>(policy), memory())),
                nullptr}) {}

  /// A load of line number `line` by a warp of a type, long after the last one.
  void load(std::uint64_t line, WarpType type) {
    MemoryRequest r = PartitionBench::request(MemoryOperation::load, line * line_bytes);
    r.marks = typed(type);
    send(r);
  }
  void send(MemoryRequest r) {
    r.tag = ++tag_;
    bench_.send(bench_.reached() + 1000, r);
    bench_.run();
  }
  bool last_hit() { return bench_.answer(tag_).response.l2_hits != 0; }
  bool last_past() { return (bench_.answer(tag_).response.flags & flag_past_l2) != 0; }
  PartitionBench& bench() { return bench_; }

 private:
  static MemoryParameters memory() {
    MemoryParameters p = small_memory();
    p.l2.ways = 16;  // one set
    return p;
  }
  PartitionBench bench_;
  std::uint32_t tag_ = 0;
};

TEST(MedicInsertion, EvictsMostlyMissingThenBalancedAndKeepsThoseThatHit) {
  MedicSet set;
  for (std::uint64_t line = 0; line < 14; ++line) set.load(line, WarpType::mostly_hit);
  set.load(14, WarpType::balanced);
  set.load(15, WarpType::mostly_miss);
  for (std::uint64_t line = 20; line < 23; ++line) set.load(line, WarpType::balanced);
  // 15 went for 20, 14 for 21 and 20 for 22.
  for (const std::uint64_t line : {21, 22}) {
    set.load(line, WarpType::balanced);
    EXPECT_TRUE(set.last_hit()) << line;
  }
  for (std::uint64_t line = 0; line < 14; ++line) {
    set.load(line, WarpType::mostly_hit);
    EXPECT_TRUE(set.last_hit()) << line;
  }
  for (const std::uint64_t line : {15, 14, 20}) {
    set.load(line, WarpType::balanced);
    EXPECT_FALSE(set.last_hit()) << line;
  }
}

TEST(MedicInsertion, ByStackLetsUnusedLinesAge) {
  MedicSet set("{name: medic, order: stack}");
  for (std::uint64_t line = 0; line < 15; ++line) set.load(line, WarpType::mostly_hit);
  set.load(15, WarpType::mostly_miss);
  set.load(16, WarpType::balanced);  // in place of 15, younger than half of the others
  set.load(17, WarpType::balanced);  // in place of 0, which was used longest ago
  for (const std::uint64_t line : {1, 14, 16, 17}) {
    set.load(line, WarpType::mostly_hit);
    EXPECT_TRUE(set.last_hit()) << line;
  }
  for (const std::uint64_t line : {15, 0}) {
    set.load(line, WarpType::mostly_miss);
    EXPECT_FALSE(set.last_hit()) << line;
  }
}

TEST(MedicInsertion, ByStackPutsAPlainLineAboveAllOthers) {
  MedicSet set("{name: medic, order: stack}");
  for (std::uint64_t line = 0; line < 15; ++line) set.load(line, WarpType::mostly_hit);
  MemoryRequest r = PartitionBench::request(MemoryOperation::load, 15 * line_bytes);
  r.marks = balanced | mark_plain;
  set.send(r);
  for (std::uint64_t line = 20; line < 35; ++line) set.load(line, WarpType::mostly_hit);
  set.load(15, WarpType::mostly_miss);  // 15 lines later it is the next to go
  EXPECT_TRUE(set.last_hit());
}

TEST(MedicInsertion, IsOffWhenItIsSwitchedOff) {
  MedicSet set("{name: medic, insertion: false}");
  set.load(0, WarpType::mostly_hit);
  for (std::uint64_t line = 1; line < 17; ++line) set.load(line, WarpType::mostly_miss);
  set.load(0, WarpType::mostly_hit);
  EXPECT_FALSE(set.last_hit());
}

MemoryRequest missing_load(std::uint64_t line, std::uint8_t sectors = 1) {
  MemoryRequest r = PartitionBench::request(MemoryOperation::load, line * line_bytes, sectors);
  r.marks = mostly_missing;
  return r;
}

TEST(MedicBypass, ALoadPastTheL2LeavesNothingBehind) {
  MedicSet set;
  set.send(missing_load(5));
  EXPECT_TRUE(set.last_past());
  set.load(5, WarpType::balanced);
  EXPECT_FALSE(set.last_hit());
}

TEST(MedicBypass, AnAtomicLooksUpAndLeavesNothingBehind) {
  MedicSet set;
  MemoryRequest r = PartitionBench::request(MemoryOperation::atomic, 5 * line_bytes);
  r.marks = mostly_missing;
  r.atomic = isa::AtomicOperation::add;
  r.type = isa::Type::u32;
  r.lanes = 1;
  set.bench().send(10, r, std::vector<std::byte>(sizeof(AtomicLane)));
  set.bench().run();
  EXPECT_EQ(set.bench().statistics().tenant[0].bypasses.value(), 0u);
  set.load(5, WarpType::balanced);
  EXPECT_FALSE(set.last_hit());
}

TEST(MedicBypass, ALoadOfSectorsThatOnlyTheL2HasLooksUpAndIsCounted) {
  MedicSet set;
  set.bench().store(10, 5 * line_bytes, 77, ~0u, 1, 900);
  set.bench().run();
  set.send(missing_load(5));
  EXPECT_FALSE(set.last_past());
  EXPECT_TRUE(set.last_hit());
  set.send(missing_load(5, 2));  // another sector of the line
  EXPECT_TRUE(set.last_past());
  EXPECT_EQ(set.bench().statistics().tenant[0].dirty_lookups.value(), 1u);
}

TEST(MedicReuse, ALineThatLeftNotLongAgoIsLookedUpAndKept) {
  MedicSet set("{name: medic, reuse: true}");
  for (std::uint64_t line = 0; line < 17; ++line) set.load(line, WarpType::balanced);  // 0 goes
  set.send(missing_load(0));
  EXPECT_FALSE(set.last_past());
  set.load(0, WarpType::balanced);
  EXPECT_TRUE(set.last_hit());
  set.send(missing_load(200));
  EXPECT_TRUE(set.last_past());
}

}  // namespace
}  // namespace lockstep::test::medic_test
