#include <gtest/gtest.h>

#include <random>

#include "tests/unit/memory/partition_bench.hpp"
#include "tests/unit/memory/partition_policies.hpp"
#include "tests/unit/memory/past_the_l2.hpp"

namespace lockstep::test::partition_state_test {
namespace {

/// A machine in which every queue is short, so that everything blocks everything; some have none
/// past the L2, some a path of its own to it.
MemoryParameters crowded(unsigned seed = 0) {
  using namespace literals;
  MemoryParameters p = small_memory();
  p.l2.banks = 2;
  p.l2.mshrs = 8;
  p.l2.bank_queue = 2;
  p.l2.bypass_queue = seed % 3;
  if (seed % 3 != 0 && seed % 2 != 0) p.l2.bypass_path = BypassPath::own;
  p.l2.fill_queue = 1;
  p.l2.response_queue = 2;
  p.l2.response_rate = 1;
  p.dram.clock = 811_MHz;
  p.dram.queue = 4;
  p.dram.write_queue = 4;
  p.dram.write_high = 3;
  p.dram.write_low = 1;
  p.dram.refi = 700_cycles;
  p.dram.rfc = 90_cycles;
  return p;
}

/// Random loads, stores and atomics of all SMs, some to one hot line; tags count from 0.
std::uint32_t traffic(PartitionBench& bench, unsigned seed, std::uint32_t count) {
  std::mt19937 random(seed);
  std::int64_t cycle = 0;
  for (std::uint32_t tag = 0; tag < count; ++tag) {
    cycle += random() % 8 == 0 ? random() % 400 : random() % 3;
    const std::uint64_t address =
        random() % 8 == 0 ? 0 : (random() % 512) * line_bytes + 64 * (random() % 2);
    const auto sectors = static_cast<std::uint8_t>(1 + random() % 15);
    const auto sm = static_cast<std::uint16_t>(random() % PartitionBench::sms);
    const std::uint32_t mask = random() % 2 != 0 ? ~0u : static_cast<std::uint32_t>(random());
    MemoryRequest r = PartitionBench::request(MemoryOperation::load, address, sectors, tag, sm);
    switch (random() % 4) {
      case 0:
        bench.store(cycle, address, tag, mask, sectors, tag, sm);
        break;
      case 1:
        bench.atomic_add(cycle, address, {1, 2, 3}, tag, sm);
        break;
      default:
        r.tenant = sm % 2;
        r.flags = flag_local;  // what tenants may pass on unzeroed
        if (random() % 8 == 0) r.pc = PastTheL2::past;
        bench.send(cycle, r);
    }
  }
  return count;
}

/// Answers in order of departure; the bench collects them by receiver and window.
std::uint64_t digest(const PartitionBench& bench) {
  std::uint64_t h = 0;
  auto answers = bench.answers();
  std::sort(answers.begin(), answers.end(), [](const auto& a, const auto& b) {
    return std::pair(a.departure, a.response.tag) < std::pair(b.departure, b.response.tag);
  });
  for (const auto& a : answers)
    h = h * 0x9e3779b97f4a7c15u + std::uint64_t(a.departure) * 31 + a.response.tag;
  return h;
}

class PartitionState : public testing::TestWithParam<std::string> {
 protected:
  PartitionBench::Policies policies() const {
    return {std::make_unique<PastTheL2>(), dram_scheduler_named(GetParam())};
  }
};

TEST_P(PartitionState, EveryRequestIsAnsweredOnce) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    PartitionBench bench(crowded(seed), 2, policies());
    const std::uint32_t sent = traffic(bench, seed, 400);
    bench.run();
    std::vector<unsigned> seen(sent);
    for (const auto& a : bench.answers()) ++seen.at(a.response.tag);
    for (std::uint32_t tag = 0; tag < sent; ++tag) EXPECT_EQ(seen[tag], 1u) << seed << ' ' << tag;
    EXPECT_TRUE(bench.partition().finished());
    EXPECT_EQ(bench.partition().waiting_for(), "");
  }
}

TEST_P(PartitionState, WindowsCutAnywhereGiveTheSameAnswers) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    PartitionBench whole(crowded(seed), 2, policies()), cut(crowded(seed), 2, policies());
    traffic(whole, seed, 300);
    traffic(cut, seed, 300);
    whole.run_to(200'000);
    cut.run_to(200'000, 1 + seed * 7);
    EXPECT_EQ(digest(whole), digest(cut)) << seed;
    // Whole states, except the Archive's view of scratch: statistics, tags, queues, bytes.
    EXPECT_EQ(whole.statistics().tenant[0].queue_cycles.value(),
              cut.statistics().tenant[0].queue_cycles.value());
    EXPECT_EQ(whole.statistics().dram_wait_behind.at(0, 1).value(),
              cut.statistics().dram_wait_behind.at(0, 1).value());
  }
}

TEST_P(PartitionState, ARestoredPartitionGoesOnAsTheSavedOne) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    PartitionBench whole(crowded(seed), 2, policies());
    traffic(whole, seed, 300);
    whole.run_to(200'000);
    for (const std::int64_t at : {150, 777, 2500}) {
      PartitionBench resumed(crowded(seed), 2, policies());
      traffic(resumed, seed, 300);
      resumed.run_to(at);
      const std::string state = resumed.save();
      // A fresh partition in the place of the old one.
      PartitionBench fresh(crowded(seed), 2, policies());
      fresh.store(0, 0, 99);  // something to be overwritten
      fresh.run();
      fresh.restore(state);
      EXPECT_EQ(fresh.save(), state);
      resumed.restore(state);
      resumed.run_to(200'000);
      EXPECT_EQ(digest(whole), digest(resumed)) << seed << ' ' << at;
    }
  }
}

TEST_P(PartitionState, NextActivityIsNeverAfterAChange) {
  PartitionBench bench(crowded(2), 2, policies());
  traffic(bench, 3, 100);
  bench.run_to(bench.last_arrival() + 1);
  // From here on: nothing happens before the promised time.
  for (int i = 0; i < 500; ++i) {
    const Time next = bench.partition().next_activity();
    if (next == Time::never()) break;
    const std::int64_t cycle = next.femtoseconds() / bench.time(1).femtoseconds();
    ASSERT_GE(cycle, bench.reached() - 1);
    const std::size_t before = bench.answers().size();
    bench.run_to(std::max(bench.reached(), cycle - 1));
    EXPECT_EQ(bench.answers().size(), before);
    bench.run_to(cycle + 1);
  }
}

TEST_P(PartitionState, AnIdlePartitionHasNothingToDo) {
  PartitionBench bench(crowded(), 2, policies());
  EXPECT_EQ(bench.partition().next_activity(), Time::never());
  bench.load(10, 0);
  bench.run();
  EXPECT_EQ(bench.partition().next_activity(), Time::never());
}

INSTANTIATE_TEST_SUITE_P(EveryDramScheduler, PartitionState,
                         testing::ValuesIn(names_of(dram_scheduler_policies())), NamedByPolicy());

}  // namespace
}  // namespace lockstep::test::partition_state_test
