#include <gtest/gtest.h>

#include "tests/unit/memory/partition_bench.hpp"
#include "tests/unit/memory/past_the_l2.hpp"

namespace lockstep::test::l2_timing_test {
namespace {

// An unloaded hit: at the port in cycle 0, in the bank's queue in cycle 1 (port and arbitration),
// looked up then, answered `latency` later.
constexpr std::int64_t hit = 1 + 10;

/// A miss in the small machine with a closed row: lookup in cycle 1, activate then, read tRCD
/// later, data CL and a burst later, the way back, a fill, and the answer one cycle after it.
std::int64_t miss(const MemoryParameters& p) {
  return 1 + p.dram.rcd_read.count() + p.dram.cl.count() + p.dram.burst.count() +
         p.dram.path_latency.count() + 1;
}

TEST(L2Timing, AColdLoadPaysActivateColumnBurstAndTheWayBack) {
  PartitionBench bench;
  bench.load(100, 0, 1, 7);
  bench.run();
  EXPECT_EQ(bench.departure(7), 100 + miss(small_memory()));
  EXPECT_EQ(bench.answer(7).response.l2_hits, 0);
}

TEST(L2Timing, ASecondLoadOfTheSectorHits) {
  PartitionBench bench;
  bench.load(0, 0, 1, 1);
  bench.load(1000, 0, 1, 2);
  bench.run();
  EXPECT_EQ(bench.departure(2), 1000 + hit);
  EXPECT_EQ(bench.answer(2).response.l2_hits, 1);
}

TEST(L2Timing, AnotherSectorOfTheLineMisses) {
  PartitionBench bench;
  bench.load(0, 0, 1, 1);
  bench.load(1000, 0, 2, 2);
  bench.run();
  EXPECT_EQ(bench.answer(2).response.l2_hits, 0);
  // The row is open: no activate.
  EXPECT_EQ(bench.departure(2), 1000 + miss(small_memory()) - small_memory().dram.rcd_read.count());
}

TEST(L2Timing, AMissReadsTheWholeLineIfAsked) {
  MemoryParameters p = small_memory();
  p.l2.fetch = L2Fetch::line;
  PartitionBench bench(p);
  bench.load(0, 0, 1, 1);
  bench.load(1000, 0, 14, 2);
  bench.run();
  EXPECT_EQ(bench.answer(2).response.l2_hits, 14);
  EXPECT_EQ(bench.statistics().tenant[0].dram_reads.value(), 4u);
}

/// The line goes when all but its sector 0 is on its way, so that this one is not there any more
/// and nobody has asked for it.
TEST(L2Timing, AWholeLineIsReadOnlyWithASectorThatIsNotOnItsWay) {
  MemoryParameters p = small_memory();
  p.l2.fetch = L2Fetch::line;
  p.l2.size = Bytes{512};  // one set of 4
  p.l2.mshrs = 1;
  PartitionBench bench(p);
  bench.store(0, 0, 42);
  bench.load(100, 0, 2, 1, 1);
  for (std::uint32_t i = 1; i <= 4; ++i) bench.store(100 + i, 128 * i, i);
  bench.load(110, 0, 2, 2, 2);
  bench.load(111, 128 * 5, 1, 3, 3);  // takes the only MSHR when both have their sector
  bench.run();
  EXPECT_EQ(bench.answer(2).response.l2_hits, 2 << 4) << "on its way";
  EXPECT_EQ(bench.departure(2), bench.departure(1) + 1);
  EXPECT_GT(bench.departure(3), bench.departure(2) + 100) << "by a read of its own";
  EXPECT_EQ(bench.statistics().tenant[0].dram_reads.value(), 3u + 4u);
}

TEST(L2Timing, AWholeLineTakesABeatPerSector) {
  PartitionBench bench;
  bench.load(0, 0, 15, 1);
  bench.load(1000, 0, 15, 2);
  bench.run();
  EXPECT_EQ(bench.departure(2), 1000 + hit + 3);
}

TEST(L2Timing, HitsOfOneBankFollowEachOtherByTheirBeats) {
  PartitionBench bench;
  bench.load(0, 0, 15, 1);
  bench.load(1000, 0, 3, 2, 1);  // SM 0 had its turn
  bench.load(1000, 0, 1, 3, 2);
  bench.run();
  EXPECT_EQ(bench.departure(2), 1000 + hit + 1);
  EXPECT_EQ(bench.departure(3), 1000 + hit + 2);
}

TEST(L2Timing, HitsOfTwoBanksDoNotWaitForEachOther) {
  MemoryParameters p = small_memory();
  p.l2.banks = 2;
  p.l2.mshrs = 8;
  PartitionBench bench(p);
  bench.load(0, 0, 15, 1);
  bench.load(0, 128, 15, 2);
  bench.load(1000, 0, 1, 3, 0);
  bench.load(1000, 128, 1, 4, 1);
  bench.run();
  EXPECT_EQ(bench.departure(3), 1000 + hit);
  EXPECT_EQ(bench.departure(4), 1000 + hit);
}

/// Lines 0, 5 and 10 share a set, of which two may be dirty.
TEST(L2Timing, OneDirtyLineMoreThanTheLimitSendsTheOldestToDram) {
  MemoryParameters p = small_memory();
  p.l2.dirty_ways = 2;
  PartitionBench bench(p);
  bench.store(0, 0, 5);
  bench.store(1000, 5 * 128, 5);
  bench.store(2000, 0, 6);  // dirty already, and the youngest now
  bench.run();
  EXPECT_EQ(bench.statistics().tenant[0].writebacks.value(), 0u);
  bench.store(5000, 10 * 128, 5);
  bench.load(9000, 5 * 128, 1, 7);
  bench.run();
  EXPECT_EQ(bench.statistics().tenant[0].writebacks.value(), 1u);
  EXPECT_EQ(bench.statistics().tenant[0].dram_writes.value(), 1u);
  EXPECT_EQ(bench.answer(7).response.l2_hits, 1) << "it stays, clean";
  EXPECT_EQ(bench.answer(7).value<std::uint32_t>(), 5u);
}

TEST(L2Timing, ASecondMissOnAPendingSectorSharesTheFill) {
  PartitionBench bench;
  bench.load(0, 0, 1, 1, 0);
  bench.load(5, 0, 1, 2, 1);
  bench.run();
  EXPECT_EQ(bench.departure(2), bench.departure(1) + 1);
  EXPECT_EQ(bench.statistics().tenant[0].dram_reads.value(), 1u);
  EXPECT_EQ(bench.statistics().tenant[0].merged_sectors.value(), 1u);
}

TEST(L2Timing, AThirdMissOnALineWaitsWhenOnlyTwoMayMerge) {
  PartitionBench bench;
  for (std::uint32_t i = 0; i < 3; ++i) bench.load(i, 0, 1, i, 0);
  bench.run();
  // It is looked up when the fill has arrived, and hits.
  EXPECT_EQ(bench.answer(2).response.l2_hits, 1);
  EXPECT_GT(bench.statistics().bank_stalls[std::size_t(BankStall::merges)].value(), 100u);
}

TEST(L2Timing, AMissWithoutAFreeMshrBlocksTheBank) {
  PartitionBench bench;
  for (std::uint32_t i = 0; i < 5; ++i) bench.load(i, 128 * i, 1, i, 0);
  bench.run();
  EXPECT_GT(bench.departure(4), bench.departure(0) + 100);
  EXPECT_GT(bench.statistics().bank_stalls[std::size_t(BankStall::mshrs)].value(), 100u);
}

TEST(L2Timing, AStoreNeedsNoDram) {
  PartitionBench bench;
  bench.store(0, 0, 42, ~0u, 1, 1);
  bench.load(100, 0, 1, 2);
  bench.run();
  EXPECT_EQ(bench.departure(1), hit);
  EXPECT_EQ(bench.departure(2), 100 + hit);
  EXPECT_EQ(bench.answer(2).value<std::uint32_t>(7), 42u);
  EXPECT_EQ(bench.statistics().tenant[0].dram_reads.value(), 0u);
}

TEST(L2Timing, ALoadOfAPartlyWrittenSectorFetchesIt) {
  PartitionBench bench;
  bench.store(0, 0, 42, 0xf0, 1, 1);
  bench.load(100, 0, 1, 2);
  bench.load(1000, 0, 1, 3);
  bench.run();
  EXPECT_EQ(bench.answer(2).response.l2_hits, 0);
  EXPECT_EQ(bench.departure(3), 1000 + hit);
  EXPECT_EQ(bench.answer(2).value<std::uint32_t>(0), 0u);
  EXPECT_EQ(bench.answer(2).value<std::uint32_t>(1), 42u);
}

TEST(L2Timing, PartialStoresThatCoverASectorMakeItReadable) {
  PartitionBench bench;
  bench.store(0, 0, 1, 0x0000ffff);
  bench.store(1, 0, 2, 0xffff0000);
  bench.load(100, 0, 1, 3);
  bench.run();
  EXPECT_EQ(bench.departure(3), 100 + hit);
}

TEST(L2Timing, AnEvictedDirtyLineIsWrittenBackOnce) {
  PartitionBench bench;
  for (std::uint32_t i = 0; i < 64; ++i) bench.store(100 * i, 128 * i, i);
  bench.run();
  EXPECT_EQ(bench.statistics().tenant[0].writebacks.value(), 64u - 16u);
  EXPECT_EQ(bench.statistics().tenant[0].dram_writes.value(), 64u - 16u);
}

TEST(L2Timing, WriteThroughSendsEveryStoreToDram) {
  MemoryParameters p = small_memory();
  p.l2.write = L2Write::through;
  PartitionBench bench(p);
  for (std::uint32_t i = 0; i < 8; ++i) bench.store(100 * i, 0, i);
  bench.run();
  EXPECT_EQ(bench.statistics().tenant[0].dram_writes.value(), 8u);
  EXPECT_EQ(bench.statistics().tenant[0].writebacks.value(), 0u);
}

TEST(L2Timing, TheLeastRecentlyUsedLineOfASetGoes) {
  MemoryParameters p = small_memory();
  p.l2.size = Bytes{512};  // one set of 4
  PartitionBench bench(p);
  for (std::uint32_t i = 0; i < 4; ++i) bench.load(1000 * i, 128 * i, 1, i);
  bench.load(4000, 0, 1, 4);    // line 0 is used again
  bench.load(5000, 512, 1, 5);  // evicts line 1
  bench.load(6000, 0, 1, 6);
  bench.load(7000, 128, 1, 7);
  bench.run();
  EXPECT_EQ(bench.answer(6).response.l2_hits, 1);
  EXPECT_EQ(bench.answer(7).response.l2_hits, 0);
}

TEST(L2Timing, ABypassingLoadLeavesNoTrace) {
  PartitionBench bench(small_memory(), 2, {std::make_unique<PastTheL2>(), nullptr});
  MemoryRequest r = PartitionBench::request(MemoryOperation::load, 0, 1, 1);
  r.pc = PastTheL2::past;
  bench.send(0, r);
  r.tag = 2;
  bench.send(1000, r);
  bench.run();
  EXPECT_EQ(bench.answer(2).response.l2_hits, 0);
  EXPECT_EQ(bench.statistics().tenant[0].bypasses.value(), 2u);
  EXPECT_EQ(bench.statistics().tenant[0].dram_reads.value(), 2u);
  // No queue, no fill: a cycle less at each end than a miss.
  EXPECT_EQ(bench.departure(1), miss(small_memory()) - 2);
}

/// Two loads past the L2 in front of a DRAM queue of one place, and one behind them that hits: when
/// it leaves.
std::int64_t departure_of_a_hit_behind_bypasses(std::uint32_t bypass_queue) {
  MemoryParameters p = small_memory();
  p.l2.ports = 1;
  p.l2.bypass_queue = bypass_queue;
  p.dram.queue = 1;
  PartitionBench bench(p, 2, {std::make_unique<PastTheL2>(), nullptr});
  bench.load(0, 0, 1, 1);
  for (std::uint32_t tag : {2, 3}) {
    MemoryRequest r = PartitionBench::request(MemoryOperation::load, 4096 * tag, 1, tag);
    r.pc = PastTheL2::past;
    bench.send(1000, r);
  }
  bench.load(1002, 0, 1, 4, 1);
  bench.run();
  EXPECT_EQ(bench.answer(4).response.l2_hits, 1);
  EXPECT_EQ(bench.statistics().tenant[0].bypasses.value(), 2u);
  EXPECT_GT(bench.departure(3), bench.departure(2));
  return bench.departure(4);
}

TEST(L2Timing, AHitWaitsAtThePortBehindABypassThatFindsNoRoomInTheDramQueue) {
  EXPECT_GT(departure_of_a_hit_behind_bypasses(0), 1002 + hit);
}

TEST(L2Timing, AQueueOfTheirOwnTakesBypassesOutOfTheWayOfAHit) {
  EXPECT_EQ(departure_of_a_hit_behind_bypasses(1), 1002 + hit);
}

/// Loads of one SM past the L2 and one of it that hits, with a single input port: when the hit
/// leaves.
std::int64_t departure_of_a_hit_among_bypasses(BypassPath path, std::uint32_t bypass_queue) {
  MemoryParameters p = small_memory();
  p.l2.ports = 1;
  p.l2.bypass_queue = bypass_queue;
  p.l2.bypass_path = path;
  PartitionBench bench(p, 2, {std::make_unique<PastTheL2>(), nullptr});
  bench.load(0, 0, 1, 1);
  for (std::uint32_t tag : {2, 3, 4}) {
    MemoryRequest r = PartitionBench::request(MemoryOperation::load, 4096 * tag, 1, tag);
    r.pc = PastTheL2::past;
    bench.send(1000, r);
  }
  bench.load(1000, 0, 1, 5);
  bench.run();
  EXPECT_EQ(bench.answer(5).response.l2_hits, 1);
  EXPECT_EQ(bench.statistics().tenant[0].bypasses.value(), 3u);
  return bench.departure(5);
}

TEST(L2Timing, AHitWaitsForBypassesAtTheirPort) {
  EXPECT_EQ(departure_of_a_hit_among_bypasses(BypassPath::shared, 4), 1000 + hit + 3);
}

TEST(L2Timing, BypassesOnAPathOfTheirOwnTakeNoPort) {
  EXPECT_EQ(departure_of_a_hit_among_bypasses(BypassPath::own, 4), 1000 + hit);
}

TEST(L2Timing, BypassesThatFindTheirQueueFullComeThroughThePort) {
  EXPECT_GT(departure_of_a_hit_among_bypasses(BypassPath::own, 1), 1000 + hit);
}

/// A load past the L2 beside loads that hit, whose answers of several flits fill the way to the
/// network: how long it takes.
std::int64_t time_of_a_bypass(BypassPath path, std::uint32_t hits) {
  MemoryParameters p = small_memory();
  p.l2.response_rate = 1;
  p.l2.bypass_queue = 4;
  p.l2.bypass_path = path;
  PartitionBench bench(p, 2, {std::make_unique<PastTheL2>(), nullptr});
  bench.load(0, 0, 15, 1);
  MemoryRequest r = PartitionBench::request(MemoryOperation::load, 4096, 1, 2);
  r.pc = PastTheL2::past;
  bench.send(1000, r);
  for (std::uint32_t tag = 3; tag < 3 + hits; ++tag) bench.load(1000, 0, 15, tag, 1);
  bench.run();
  return bench.departure(2) - 1000;
}

TEST(L2Timing, AnswersToBypassesWaitInTheResponseQueue) {
  EXPECT_GT(time_of_a_bypass(BypassPath::shared, 100), time_of_a_bypass(BypassPath::shared, 0));
}

TEST(L2Timing, AnswersToBypassesOnAPathOfTheirOwnDoNotWait) {
  EXPECT_EQ(time_of_a_bypass(BypassPath::own, 100), time_of_a_bypass(BypassPath::own, 0));
}

TEST(L2Timing, AnAtomicThroughTheL2TakesOnePlaceOfTheDramQueueAfterTheOther) {
  MemoryParameters p = small_memory();
  p.l2.write = L2Write::through;
  p.dram.queue = 1;
  p.dram.write_queue = 0;  // its read and its write share the one place
  PartitionBench bench(p);
  bench.atomic_add(0, 0, {1, 2}, 1);
  bench.atomic_add(5, 256, {3}, 2, 1);
  bench.run();
  EXPECT_EQ(bench.answer(1).value<std::uint64_t>(1), 1u);
  EXPECT_EQ(bench.answer(2).value<std::uint64_t>(), 0u);
  EXPECT_EQ(bench.statistics().tenant[0].dram_reads.value(), 2u);
  EXPECT_EQ(bench.statistics().tenant[0].dram_writes.value(), 2u);
}

TEST(L2Timing, QueueLatencyIsCountedFromPortToBank) {
  PartitionBench bench;
  bench.load(0, 0, 15, 1);
  for (std::uint32_t i = 0; i < 4; ++i) bench.load(1000, 0, 15, 2 + i, std::uint16_t(i));
  bench.run();
  // The cold one waits 1 cycle, the four hits 1, 5, 9 and 13.
  EXPECT_EQ(bench.statistics().tenant[0].queue_cycles.value(), 1u + 1 + 5 + 9 + 13);
}

TEST(L2Timing, WaitingBehindAnotherTenantIsAttributed) {
  PartitionBench bench;
  bench.load(0, 0, 15, 1);
  MemoryRequest r = PartitionBench::request(MemoryOperation::load, 0, 15, 2, 1);
  bench.send(1000, r);
  r.tenant = 1;
  r.flags = flag_local;  // what tenants may pass on unzeroed
  r.requester = 2;
  bench.send(1000, r);
  bench.run();
  EXPECT_EQ(bench.statistics().l2_wait_behind.at(1, 0).value(), 5u);
  EXPECT_EQ(bench.statistics().l2_wait_behind.at(0, 1).value(), 0u);
}

}  // namespace
}  // namespace lockstep::test::l2_timing_test
