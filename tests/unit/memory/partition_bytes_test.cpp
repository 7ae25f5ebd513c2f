#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "models/noc/progress.hpp"
#include "tests/unit/memory/partition_bench.hpp"

namespace lockstep::test::partition_bytes_test {
namespace {

TEST(PartitionBytes, FreshMemoryReadsAsZero) {
  PartitionBench bench;
  bench.load(0, 4096, 15, 1);
  bench.run();
  for (unsigned i = 0; i < 16; ++i) EXPECT_EQ(bench.answer(1).value<std::uint64_t>(i), 0u);
}

TEST(PartitionBytes, ALoadTakesTheValueThatStoodThereWhenItArrived) {
  PartitionBench bench;
  bench.store(0, 0, 1);
  // The load misses and leaves long after the store that follows it was executed.
  bench.load(1, 128, 1, 1);
  bench.store(2, 128, 2, ~0u, 1, 9);
  bench.run();
  EXPECT_GT(bench.departure(1), bench.departure(9));
  EXPECT_EQ(bench.answer(1).value<std::uint32_t>(), 0u);
}

TEST(PartitionBytes, ALoadUnderWayDoesNotSeeTheZeroingOfItsLine) {
  PartitionBench bench;
  bench.store(0, 256, 5);
  bench.load(1000, 128, 1, 1);
  bench.load(1001, 256, 1, 2);
  bench.zero(1002, 0, 4096);
  bench.load(1003, 256, 1, 3);
  bench.run();
  EXPECT_EQ(bench.answer(2).value<std::uint32_t>(), 5u);
  EXPECT_EQ(bench.answer(3).value<std::uint32_t>(), 0u);
}

/// Bytes are read when an answer leaves, long after stores, atomics and zeroings that came later.
TEST(PartitionBytes, EveryLoadReadsWhatStoodThereWhenItArrived) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    PartitionBench bench;
    std::vector<std::uint32_t> memory(1024 * line_bytes / 4);
    std::map<std::uint32_t, std::vector<std::uint32_t>> expected;
    for (std::uint32_t tag = 1; tag < 400; ++tag) {
      // Few lines, some of them as far apart as makes tables of lines take them together.
      const std::uint64_t line = random() % 4 + random() % 2 * 512;
      std::uint32_t* words = &memory[line * line_bytes / 4];
      const auto sectors = static_cast<std::uint8_t>(1 + random() % 15);
      const auto in_sectors = [&](std::uint32_t word) { return (sectors >> word / 8 & 1) != 0; };
      switch (random() % 8) {
        case 0:
          // A line, or all before it.
          if (random() % 2 == 0) words = memory.data();
          bench.zero(tag, words == memory.data() ? 0 : line * line_bytes,
                     words == memory.data() ? (line + 1) * line_bytes : line_bytes);
          std::fill(words, &memory[line * line_bytes / 4] + line_bytes / 4, 0u);
          break;
        case 1:
          bench.atomic_add(tag, line * line_bytes, {tag}, 1000 + tag);
          words[0] += tag;
          break;
        case 2:
        case 3:
          bench.store(tag, line * line_bytes, tag, ~0u, sectors, 1000 + tag);
          for (std::uint32_t word = 0; word < line_bytes / 4; ++word)
            if (in_sectors(word)) words[word] = tag;
          break;
        default:
          bench.load(tag, line * line_bytes, sectors, tag);
          for (std::uint32_t word = 0; word < line_bytes / 4; ++word)
            if (in_sectors(word)) expected[tag].push_back(words[word]);
      }
    }
    bench.run();
    for (const auto& [tag, values] : expected)
      for (std::size_t i = 0; i < values.size(); ++i)
        ASSERT_EQ(bench.answer(tag).value<std::uint32_t>(i), values[i])
            << "seed " << seed << ", load " << tag << ", word " << i;
  }
}

TEST(PartitionBytes, MessagesOfOneCycleActInTheOrderOfTheirLinks) {
  PartitionBench bench;
  bench.load(5, 0, 1, 1, 2);
  bench.store(5, 0, 7, ~0u, 1, 2, 1);
  bench.load(5, 0, 1, 3, 0);
  bench.run();
  EXPECT_EQ(bench.answer(3).value<std::uint32_t>(), 0u);
  EXPECT_EQ(bench.answer(1).value<std::uint32_t>(), 7u);
}

TEST(PartitionBytes, AMaskedStoreLeavesTheOtherBytes) {
  PartitionBench bench;
  bench.store(0, 0, 0xaaaaaaaa);
  bench.store(1, 0, 0xbbbbbbbb, 0x0000'f016);
  bench.load(2, 0, 1, 1);
  bench.run();
  const auto a = bench.answer(1);
  for (unsigned i = 0; i < 32; ++i)
    EXPECT_EQ(a.value<std::uint8_t>(i), (0xf016u >> i) & 1 ? 0xbb : 0xaa) << i;
}

TEST(PartitionBytes, SectorsOfALineTravelLowestFirst) {
  PartitionBench bench;
  bench.store(0, 0, 1, ~0u, 1);
  bench.store(1, 0, 4, ~0u, 4);
  bench.store(2, 0, 8, ~0u, 8);
  bench.load(3, 0, 0b1101, 1);
  bench.run();
  const auto a = bench.answer(1);
  ASSERT_EQ(a.payload.size(), 96u);
  EXPECT_EQ(a.value<std::uint32_t>(0), 1u);
  EXPECT_EQ(a.value<std::uint32_t>(8), 4u);
  EXPECT_EQ(a.value<std::uint32_t>(16), 8u);
}

TEST(PartitionBytes, AtomicsActInOrderOfArrivalAndReturnTheOldValues) {
  PartitionBench bench;
  bench.atomic_add(0, 64, {1, 2, 3}, 1, 0);
  bench.atomic_add(1, 64, {10}, 2, 1);
  bench.load(2, 64, 4, 3);
  bench.run();
  EXPECT_EQ(bench.answer(1).value<std::uint64_t>(0), 0u);
  EXPECT_EQ(bench.answer(1).value<std::uint64_t>(1), 1u);
  EXPECT_EQ(bench.answer(1).value<std::uint64_t>(2), 3u);
  EXPECT_EQ(bench.answer(2).value<std::uint64_t>(0), 6u);
  EXPECT_EQ(bench.answer(3).value<std::uint32_t>(0), 16u);
}

TEST(PartitionBytes, AnAtomicMakesItsSectorDirty) {
  MemoryParameters p = small_memory();
  p.l2.size = Bytes{512};
  PartitionBench bench(p);
  bench.atomic_add(0, 0, {1});
  for (std::uint32_t i = 1; i < 6; ++i) bench.load(1000 * i, 512 * i, 1, i);
  bench.run();
  EXPECT_EQ(bench.statistics().tenant[0].writebacks.value(), 1u);
}

TEST(PartitionBytes, AnAtomicThatHitsMakesItsSectorDirty) {
  MemoryParameters p = small_memory();
  p.l2.size = Bytes{512};
  PartitionBench bench(p);
  bench.load(0, 0);
  bench.atomic_add(1000, 0, {1});
  for (std::uint32_t i = 1; i < 6; ++i) bench.load(1000 + 1000 * i, 512 * i, 1, i);
  bench.run();
  EXPECT_EQ(bench.statistics().tenant[0].writebacks.value(), 1u);
}

TEST(PartitionBytes, AnAtomicOccupiesTheBankByItsLanes) {
  PartitionBench bench;
  bench.load(0, 0, 1, 1);
  bench.atomic_add(1000, 0, std::vector<std::uint32_t>(32, 1), 2, 1);
  bench.run();
  // 128 bytes of operands: 4 flits; 32 lanes at 8 per cycle: 4 cycles.
  EXPECT_EQ(bench.departure(2), 1000 + 3 + 1 + 10 + 3);
}

TEST(PartitionBytes, AStoreOfFourSectorsTakesItsFlitsAtThePort) {
  PartitionBench bench;
  bench.store(0, 0, 1, ~0u, 15, 1);
  bench.run();
  EXPECT_EQ(bench.departure(1), 3 + 1 + 10 + 3);
}

TEST(PartitionBytes, ZeroedRangesReadAsZeroAndNothingElseDoes) {
  PartitionBench bench;
  for (std::uint64_t a = 0; a < 1024; a += 128) bench.store(0, a, 5, ~0u, 15);
  bench.zero(500, 256, 512);
  for (std::uint32_t i = 0; i < 8; ++i) bench.load(501, 128 * i, 1, 100 + i);
  bench.run();
  for (std::uint32_t i = 0; i < 8; ++i)
    EXPECT_EQ(bench.answer(100 + i).value<std::uint32_t>(), i >= 2 && i < 6 ? 0u : 5u) << i;
  const auto& all = bench.answers();
  EXPECT_EQ(std::count_if(all.begin(), all.end(),
                          [](const auto& a) { return a.kind == MessageKind::zero_done; }),
            1);
}

TEST(PartitionBytes, AnInspectionIsAnsweredAtOnceAndCountsNothing) {
  PartitionBench bench;
  bench.store(0, 0, 9);
  MemoryRequest r = PartitionBench::request(MemoryOperation::inspect, 0, 1, 77);
  r.source = SourceKind::host;
  bench.send(50, r);
  bench.run();
  EXPECT_EQ(bench.departure(77), 50);
  EXPECT_EQ(bench.answer(77).value<std::uint32_t>(), 9u);
  EXPECT_EQ(bench.statistics().tenant[0].requests.value(), 1u);
}

/// Lines that answers to inspections of a range brought, one after the other: nobody waits for
/// them, and not all are to be on their way at once.
std::map<std::uint64_t, std::uint32_t> inspected(const PartitionBench& bench,
                                                 std::int64_t departure) {
  std::map<std::uint64_t, std::uint32_t> lines;
  for (const PartitionBench::Answer& answer : bench.answers()) {
    if (answer.kind != MessageKind::inspected) continue;
    EXPECT_EQ(answer.departure, std::exchange(departure, departure + 128));
    for (std::size_t at = 0; at < answer.payload.size(); at += sizeof(InspectedLine)) {
      InspectedLine line;
      std::memcpy(&line, &answer.payload[at], sizeof line);
      std::uint32_t first = 0;
      std::memcpy(&first, line.bytes.data(), sizeof first);
      lines[line.line] = first;
    }
  }
  return lines;
}

TEST(PartitionBytes, AnInspectedRangeBringsTheLinesThatAreNotZero) {
  PartitionBench bench;
  const auto partitions = small_memory().partitions;
  const std::uint64_t stripe = 256 * partitions;  // plain mapping, this is partition 0
  bench.store(0, 0, 9);
  bench.store(1, 128, 0);
  bench.store(2, 100 * stripe + 128, 7);
  bench.store(3, 300 * stripe, 5);
  bench.inspect(50, 0, 200 * stripe);
  bench.store(51, 0, 8);
  bench.run();
  EXPECT_EQ(inspected(bench, 50),
            (std::map<std::uint64_t, std::uint32_t>{{0, 9}, {100 * stripe + 128, 7}}));
}

TEST(PartitionBytes, ManyLinesOfARangeComeInSeveralMessages) {
  PartitionBench bench;
  const std::uint64_t stripe = 256 * small_memory().partitions;
  for (std::uint32_t i = 0; i < 300; ++i) bench.store(i, i * stripe, i + 1);
  bench.inspect(5000, 0, 300 * stripe);
  const std::string state = (bench.run_to(5000), bench.save());
  bench.restore(state);
  bench.run();
  const auto lines = inspected(bench, 5000);
  ASSERT_EQ(lines.size(), 300u);
  for (std::uint32_t i = 0; i < 300; ++i) EXPECT_EQ(lines.at(i * stripe), i + 1);
  EXPECT_GT(
      std::ranges::count(bench.answers(), MessageKind::inspected, &PartitionBench::Answer::kind),
      1);
}

#ifndef NDEBUG
MemoryRequest load_of_tenant(std::uint16_t tenant) {
  MemoryRequest r = PartitionBench::request(MemoryOperation::load, 0);
  r.tenant = tenant;
  return r;
}

TEST(PartitionBytes, AFrameBelongsToOneTenant) {
  PartitionBench bench;
  bench.send(0, load_of_tenant(0));
  bench.send(10, load_of_tenant(1));
  EXPECT_THROW(bench.run(), InternalError);
}

TEST(PartitionBytes, AZeroedFrameMayBelongToAnother) {
  PartitionBench bench;
  bench.send(0, load_of_tenant(0));
  bench.zero(10, 0, 4096);
  bench.send(20, load_of_tenant(1));
  bench.run();
}
#endif

TEST(PartitionBytes, ARequestBeyondTheMemoryIsAnInternalError) {
  PartitionBench bench;
  bench.load(0, 1 << 20, 1, 1);
  EXPECT_THROW(bench.run(), InternalError);
}

/// Whether tenant 0 has changed a word since the last call.
bool has_changed(PartitionBench& bench) {
  bench.run();
  ProgressBits seen(2);
  bench.partition().take_progress(bench.time(bench.reached()), seen);
  EXPECT_EQ(seen[1], 0);
  return (seen[0] & progress::got_on) != 0;
}

TEST(PartitionBytes, OnlyWhatChangesAWordIsProgress) {
  PartitionBench bench;
  bench.load(0, 0, 15, 1);
  EXPECT_FALSE(has_changed(bench));
  bench.store(1000, 0, 0xaaaaaaaa);
  EXPECT_TRUE(has_changed(bench));
  EXPECT_FALSE(has_changed(bench));
  bench.store(2000, 0, 0xaaaaaaaa);
  EXPECT_FALSE(has_changed(bench));
  bench.store(3000, 0, 0xbbbbbbbb, 0);
  EXPECT_FALSE(has_changed(bench));
  bench.store(4000, 0, 0xbbbbbbaa, 0x1);
  EXPECT_FALSE(has_changed(bench));
  bench.store(5000, 0, 0xbbbbbbaa, 0x80000000);
  EXPECT_TRUE(has_changed(bench));
  bench.atomic_add(6000, 256, {0, 0});
  EXPECT_FALSE(has_changed(bench));
  bench.atomic_add(7000, 256, {0, 1});
  EXPECT_TRUE(has_changed(bench));
}

}  // namespace
}  // namespace lockstep::test::partition_bytes_test
