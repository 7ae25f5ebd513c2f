/// The three stages of SMS.  Numbers A7 to A11 are those of memory-interference.md, section 11.
#include <gtest/gtest.h>

#include "models/memory/dram_scheduler/sms/memory_intensity.hpp"
#include "models/memory/dram_scheduler/sms/source_fifo.hpp"
#include "tests/unit/memory/dram_bench.hpp"

namespace lockstep::test::sms_test {
namespace {

using Order = std::vector<std::uint32_t>;

DramEntry entry(std::int64_t at, std::uint32_t row, std::uint8_t bank = 0) {
  DramEntry e;
  e.arrival = DramCycle{at};
  e.row = row;
  e.bank = bank;
  return e;
}

// A7
TEST(SourceFifo, ABatchIsReadyWhenAnotherRowComesOrItsTimeIsOver) {
  for (const std::int64_t threshold : {50, 200}) {
    SourceFifo fifo(10, 10);
    fifo.push(0, entry(3, 7), threshold);
    fifo.push(1, entry(8, 7), threshold);
    EXPECT_EQ(fifo.ready(), DramCycle{3 + threshold});
    fifo.push(2, entry(20, 8), threshold);
    EXPECT_EQ(fifo.ready(), DramCycle{20});
    EXPECT_EQ(fifo.batch_size(), 2u);
    fifo.pop();
    fifo.pop();
    EXPECT_EQ(fifo.ready(), DramCycle{20 + threshold});
    EXPECT_EQ(fifo.batch_size(), 1u);
    EXPECT_EQ(fifo.front(), 2u);
  }
}

TEST(SourceFifo, TheSameRowInAnotherBankIsAnotherBatch) {
  SourceFifo fifo(10, 10);
  fifo.push(0, entry(0, 7, 1), 200);
  fifo.push(1, entry(5, 7, 2), 200);
  EXPECT_EQ(fifo.ready(), DramCycle{5});
  EXPECT_EQ(fifo.batch_size(), 1u);
}

TEST(SourceFifo, AClosedBatchTakesNoMore) {
  SourceFifo fifo(10, 10);
  fifo.push(0, entry(0, 7), 50);
  fifo.push(1, entry(50, 7), 50);
  EXPECT_EQ(fifo.batch_size(), 1u);
  SourceFifo small(10, 2);
  for (std::uint32_t i = 0; i < 3; ++i) small.push(i, entry(i, 7), 50);
  EXPECT_EQ(small.batch_size(), 2u);
  EXPECT_EQ(small.ready(), DramCycle{1});
}

TEST(SourceFifo, ABatchThatFillsItsFifoIsReady) {
  SourceFifo fifo(3, 10);
  for (std::uint32_t i = 0; i < 3; ++i) fifo.push(i, entry(i, 7), 200);
  EXPECT_TRUE(fifo.full());
  EXPECT_EQ(fifo.ready(), DramCycle{2});
}

TEST(SourceFifo, ABatchBehindOthersGrowsOnInAFullFifo) {
  SourceFifo fifo(3, 10);
  fifo.push(0, entry(0, 7), 200);
  fifo.push(1, entry(1, 8), 200);
  fifo.push(2, entry(2, 8), 200);
  EXPECT_TRUE(fifo.full());
  fifo.pop();
  EXPECT_EQ(fifo.ready(), DramCycle{1 + 200});
  fifo.push(3, entry(3, 8), 200);
  EXPECT_EQ(fifo.batch_size(), 3u);
  EXPECT_EQ(fifo.ready(), DramCycle{3});
}

TEST(MemoryIntensity, FollowsTheRequestsOfThePeriodBefore) {
  const auto after = [](int requests) {
    MemoryIntensity intensity;
    for (int i = 0; i < requests; ++i) EXPECT_EQ(intensity.arrived(DramCycle{i}), Intensity::high);
    return intensity.arrived(DramCycle{10'000});
  };
  EXPECT_EQ(after(9), Intensity::low);
  EXPECT_EQ(after(10), Intensity::medium);
  EXPECT_EQ(after(100), Intensity::medium);
  EXPECT_EQ(after(101), Intensity::high);
  MemoryIntensity other(3.2, 32);
  for (int i = 0; i < 32; ++i) other.arrived(DramCycle{i});
  EXPECT_EQ(other.arrived(DramCycle{10'000}), Intensity::medium);
  MemoryIntensity silent;
  for (int i = 0; i < 500; ++i) silent.arrived(DramCycle{i});
  EXPECT_EQ(silent.arrived(DramCycle{20'000}), Intensity::low);
}

std::uint64_t counted(DramBench& dram, const char* name) {
  const StatisticsView view = dram.policy_statistics();
  const StatisticsField& field = *view.schema->find(name);
  std::uint64_t sum = 0;
  field.walk(static_cast<char*>(const_cast<void*>(view.values)) + field.offset, 2,
             [&](const std::uint64_t* words, std::size_t count) {
               for (std::size_t i = 0; i < count; ++i) sum += words[i];
             });
  return sum;
}

// A8
TEST(Sms, RequestsGoPastTheBatchesWhileFifteenAreThere) {
  DramBench dram(tiny_hbm2(), "sms");
  for (std::uint32_t i = 0; i < 16; ++i) dram.send(0, {.bank = i, .row = 1});
  EXPECT_EQ(counted(dram, "bypasses"), 16u);
  dram.send(0, {.bank = 0, .row = 2});
  EXPECT_EQ(counted(dram, "bypasses"), 16u);
  dram.run();
  EXPECT_EQ(dram.served(), 17u);
}

TEST(Sms, ASourceThatAsksSeldomGoesPastTheBatchesAlways) {
  DramBench dram(tiny_hbm2(), "{name: sms, bypass_below: 0}");
  const DramBench::Request of_cpu{.bank = 1, .row = 1, .tenant = 1, .source = SourceKind::host};
  dram.send(0, of_cpu);  // counts as asking often at first
  EXPECT_EQ(counted(dram, "bypasses"), 0u);
  dram.send(10'000, of_cpu);
  EXPECT_EQ(counted(dram, "bypasses"), 1u);
  dram.send(20'000, {.bank = 2, .row = 1});  // the GPU always does
  EXPECT_EQ(counted(dram, "bypasses"), 1u);
}

// A9
TEST(Sms, ARequestThatGoesPastWaitsForTheEndOfABatchInMotion) {
  const auto answer_of_cpu = [](std::int64_t at) {
    DramBench dram(tiny_hbm2(), "{name: sms, bypass_below: 0}");
    for (std::uint32_t i = 0; i < 10; ++i) dram.send(10'000, {.bank = 0, .row = 1});
    dram.send(10'000, {.bank = 0, .row = 2});  // closes the batch: it moves from 10000 to 10009
    const std::uint32_t number =
        dram.send(at, {.bank = 5, .row = 1, .tenant = 1, .source = SourceKind::host});
    for (const auto& [answered, cycle] : dram.returned())
      if (answered == number) return cycle - at;
    return std::int64_t{-1};
  };
  const std::int64_t alone = 14 + 14 + 1;
  EXPECT_EQ(answer_of_cpu(10'004), 10'010 - 10'004 + alone);
  EXPECT_EQ(answer_of_cpu(10'100), alone);
}

// A10
TEST(Sms, PDecidesBetweenTheFewestRequestsAndTurns) {
  const auto picked = [](const std::string& p) {
    DramBench dram(tiny_hbm2(), "{name: sms, bypass_below: 0, max_batch: 1, p: " + p + "}");
    // Eleven of tenant 0, three of tenant 1, all of one bank: it serves them as they were picked.
    for (std::uint32_t i = 0; i < 11; ++i) dram.send(0, {.bank = 0, .row = 1});
    for (std::uint32_t i = 0; i < 3; ++i) dram.send(0, {.bank = 0, .row = 1, .tenant = 1});
    Order tenants;
    for (const std::uint32_t number : dram.order()) tenants.push_back(number >= 11);
    tenants.resize(6);
    return tenants;
  };
  EXPECT_EQ(picked("1"), (Order{1, 1, 1, 0, 0, 0}));
  EXPECT_EQ(picked("0"), (Order{1, 0, 1, 0, 1, 0}));
}

TEST(Sms, ABatchWaitsUntilItsBankHasRoomForAllOfItUnlessItIsItsTurn) {
  const auto served = [](const std::string& p) {
    DramBench dram(tiny_hbm2(),
                   "{name: sms, bypass_below: 0, max_batch: 2, bank_fifo: 2, p: " + p + "}");
    // Two batches of two of tenant 0, which has fewer requests, and six of one of tenant 1.
    for (const std::uint32_t row : {1, 1, 2, 2}) dram.send(0, {.bank = 0, .row = row});
    for (std::uint32_t row = 11; row < 17; ++row)
      dram.send(0, {.bank = 0, .row = row, .tenant = 1});
    Order tenants;
    for (const std::uint32_t number : dram.order()) tenants.push_back(number >= 4);
    return tenants;
  };
  EXPECT_EQ(served("1"), (Order{0, 0, 1, 1, 1, 1, 1, 1, 0, 0}));
  EXPECT_EQ(served("0"), (Order{1, 0, 0, 1, 0, 0, 1, 1, 1, 1}));
}

// A11
TEST(Sms, BatchesOfARowMeetAgainInTheFifoOfTheirBank) {
  DramBench dram(tiny_hbm2(), "{name: sms, bypass_below: 0}");
  dram.send(0, {.bank = 0, .row = 1});
  dram.send(0, {.bank = 1, .row = 9});
  dram.send(0, {.bank = 0, .row = 1});
  dram.run();
  EXPECT_EQ(dram.statistics().activates.value(), 2u);
  EXPECT_EQ(dram.statistics().precharges.value(), 0u);
  EXPECT_EQ(counted(dram, "batches"), 3u);
}

TEST(Sms, AFullFifoHoldsItsSourceUpAndNobodyElse) {
  DramBench dram(tiny_hbm2(), "{name: sms, bypass_below: 0, gpu_fifo: 2}");
  dram.send(0, {.bank = 0, .row = 1});
  dram.send(0, {.bank = 0, .row = 1});
  MemoryRequest request;
  EXPECT_FALSE(dram.channel().room(request, false));
  request.tenant = 1;
  EXPECT_TRUE(dram.channel().room(request, false));
  dram.run();
  EXPECT_TRUE(dram.channel().room({}, false));
}

}  // namespace
}  // namespace lockstep::test::sms_test
