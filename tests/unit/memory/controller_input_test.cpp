/// Requests of CPU cores: past the L2, each core by its own FIFO, beside the GPU's.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/memory/partition_bench.hpp"
#include "tests/unit/memory/partition_policies.hpp"

namespace lockstep::test::controller_input_test {
namespace {

/// `sectors` as a core asks for them: half a line.
MemoryRequest of_core(MemoryOperation operation, std::uint64_t address, std::uint32_t tag,
                      std::uint16_t core = 0) {
  MemoryRequest r = PartitionBench::request(operation, address, 3, tag, core);
  r.source = SourceKind::cpu;
  return r;
}

std::vector<std::byte> payload_of(std::uint32_t value) {
  std::vector<std::uint32_t> words(2 + 16, value);
  words[0] = words[1] = ~0u;
  std::vector<std::byte> payload(words.size() * 4);
  std::memcpy(payload.data(), words.data(), payload.size());
  return payload;
}

TEST(ControllerInput, ACoreReadsWhatItWrote) {
  PartitionBench bench;
  bench.send(0, of_core(MemoryOperation::store, 256, 1), payload_of(41));
  bench.send(0, of_core(MemoryOperation::load, 256, 2));
  bench.run();
  EXPECT_EQ(bench.answer(2).value<std::uint32_t>(), 41u);
  EXPECT_EQ(bench.answer(2).value<std::uint32_t>(15), 41u);
}

TEST(ControllerInput, NothingOfACoreStaysInTheL2) {
  PartitionBench bench;
  bench.send(0, of_core(MemoryOperation::load, 0, 1));
  bench.send(1000, of_core(MemoryOperation::load, 0, 2));
  bench.run();
  EXPECT_EQ(bench.answer(1).response.l2_hits, 0);
  EXPECT_EQ(bench.answer(2).response.l2_hits, 0);
  EXPECT_NE(bench.answer(2).response.flags & flag_past_l2, 0);
  EXPECT_EQ(bench.statistics().tenant[0].sector_misses.value(), 0u);
  EXPECT_EQ(bench.statistics().tenant[0].dram_reads.value(), 4u);
}

TEST(ControllerInput, AnAnswerTakesNoPlaceInTheResponsePort) {
  PartitionBench bench;
  bench.store(0, 0, 1, ~0u, 15);
  bench.run();
  const std::int64_t start = 2000;
  for (std::uint32_t i = 0; i < 40; ++i) bench.load(start + 150, 0, 15, 100 + i, i % 4);
  bench.send(start, of_core(MemoryOperation::load, 4096, 1));
  bench.run();
  PartitionBench alone;
  alone.send(start, of_core(MemoryOperation::load, 4096, 1));
  alone.run();
  EXPECT_EQ(bench.departure(1), alone.departure(1));
}

TEST(ControllerInput, CoresTakeTurns) {
  PartitionBench bench;
  for (std::uint32_t i = 0; i < 8; ++i)
    bench.send(0, of_core(MemoryOperation::load, 64 * 2 * i, i, 0));
  bench.send(0, of_core(MemoryOperation::load, 64 * 2 * 9, 30, 1));
  bench.run();
  // One row: the controller serves them in the order in which it took them.
  EXPECT_LT(bench.departure(30), bench.departure(2));
}

TEST(ControllerInput, ACoreWithoutRoomHoldsNobodyUp) {
  MemoryParameters memory = small_memory();
  memory.dram.write_queue = 0;
  PartitionBench bench(memory, 2,
                       {.cache_policy = nullptr,
                        .dram_scheduler = dram_scheduler_named(
                            "{name: sms, cpu_fifo: 1, bypass_below: 0}", memory)});
  // Tenant 0's FIFO has one place; tenant 1 has its own, and another bank.
  for (std::uint32_t i = 0; i < 6; ++i)
    bench.send(0, of_core(MemoryOperation::load, 65536 * (i + 1), i, 0));
  MemoryRequest other = of_core(MemoryOperation::load, 8192, 30, 1);
  other.tenant = 1;
  bench.send(0, other);
  bench.run();
  EXPECT_LT(bench.departure(30), bench.departure(4));
  EXPECT_EQ(bench.answers().size(), 7u);
}

TEST(GpuQueue, LeavesPlacesForTheCpu) {
  MemoryParameters memory = small_memory();
  memory.dram.queue = 4;
  memory.dram.gpu_queue = 2;
  memory.dram.write_queue = 0;
  memory.l2.mshrs = 16;
  const auto wait_of_core = [](const MemoryParameters& parameters) {
    PartitionBench bench(parameters);
    for (std::uint32_t i = 0; i < 12; ++i) bench.load(0, 65536 * (i + 1), 1, i, i % 4);
    bench.send(40, of_core(MemoryOperation::load, 128, 99));
    bench.run();
    return bench.departure(99);
  };
  MemoryParameters shared = memory;
  shared.dram.gpu_queue = 0;
  EXPECT_LT(wait_of_core(memory), wait_of_core(shared));
}

}  // namespace
}  // namespace lockstep::test::controller_input_test
