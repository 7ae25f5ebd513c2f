#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/unit/memory/partition_bench.hpp"
#include "tests/unit/memory/partition_policies.hpp"

namespace lockstep::test::express_test {
namespace {

using namespace literals;

constexpr std::int64_t end = 100'000;

/// Two banks and a short queue each; some machines write through, keep few dirty lines, or have one
/// input register, a slow DRAM, or fills that come soon.
MemoryParameters machine(unsigned seed) {
  MemoryParameters p = small_memory();
  p.l2.banks = 2;
  p.l2.mshrs = 8;
  p.l2.bank_queue = 2 + seed % 2;
  p.l2.ports = 1 + seed % 2;
  p.l2.latency = seed % 3 == 0 ? 1_cycles : 10_cycles;
  p.l2.write = seed % 5 == 0 ? L2Write::through : L2Write::back;
  p.l2.dirty_ways = seed % 4 == 0 ? 1 : 0;
  p.dram.path_latency = seed % 3 == 1 ? 1_cycles : 40_cycles;
  p.dram.clock = seed % 2 == 0 ? 811_MHz : 1500_MHz;
  p.dram.refi = 700_cycles;
  p.dram.rfc = 90_cycles;
  return p;
}

/// Random requests of all SMs to few lines; the higher the seed, the more of them come alone.
void traffic(PartitionBench& bench, unsigned seed) {
  std::mt19937 random(seed);
  std::int64_t cycle = 0;
  for (std::uint32_t tag = 0; tag < 600; ++tag) {
    cycle += random() % 4 == 0 ? random() % (10 + 10 * seed) : random() % (1 + seed % 8);
    const std::uint64_t address = (random() % 48) * line_bytes;
    const auto sectors = static_cast<std::uint8_t>(1 + random() % 15);
    const auto sm = static_cast<std::uint16_t>(random() % PartitionBench::sms);
    switch (random() % 4) {
      case 0:
        bench.store(cycle, address, tag, random() % 2 != 0 ? ~0u : 0xff0fu, sectors, tag, sm);
        break;
      case 1:
        bench.atomic_add(cycle, address, {1, 2, 3}, tag, sm);
        break;
      case 2:
        if (seed % 4 == 3) {  // of a CPU core, past the L2
          MemoryRequest of_core = PartitionBench::request(MemoryOperation::load, 8 * address,
                                                          sectors, tag, sm % PartitionBench::cores);
          of_core.source = SourceKind::cpu;
          bench.send(cycle, of_core);
          break;
        }
        [[fallthrough]];
      default:
        bench.load(cycle, address, sectors, tag, sm);
    }
    if (random() % 64 == 0) bench.mark(cycle, MessageKind::grid_begins, tag);
    if (random() % 64 == 0) bench.mark(cycle, MessageKind::grid_ends, tag);
  }
}

std::vector<std::uint64_t> statistics(PartitionBench& bench) {
  const StatisticsView view = bench.partition().statistics(Time{});
  std::vector<std::uint64_t> values(view.schema->row_size(2));
  view.schema->gather(view.values, 2, values);
  return values;
}

class Express : public testing::TestWithParam<std::string> {
 protected:
  void expect_same_times(const std::string& cache_policy, unsigned seed, std::int64_t window) {
    const auto make = [&](bool express) {
      return PartitionBench(
          machine(seed), 2,
          {cache_policy_named(cache_policy), dram_scheduler_named(GetParam()), {}},
          defaults<HalfParameters>(), express);
    };
    PartitionBench queued = make(false), express = make(true);
    for (PartitionBench* bench : {&queued, &express}) {
      traffic(*bench, seed);
      bench->run_to(end, window);
    }
    EXPECT_EQ(queued.answers(), express.answers()) << seed << ' ' << window;
    EXPECT_EQ(statistics(queued), statistics(express)) << seed << ' ' << window;
  }
};

TEST_P(Express, EveryRequestHasTheTimesOfTheQueues) {
  for (unsigned seed = 0; seed < 24; ++seed) expect_same_times("lru", seed, end);
}

TEST_P(Express, EveryRequestHasTheTimesOfTheQueuesInShortWindows) {
  for (unsigned seed = 0; seed < 12; ++seed)
    for (const std::int64_t window : {1, 7, 40}) expect_same_times("lru", seed, window);
}

TEST_P(Express, PoliciesThatWatchLookupsSeeTheSame) {
  for (unsigned seed = 0; seed < 10; ++seed) expect_same_times("medic", seed, end);
}

INSTANTIATE_TEST_SUITE_P(EveryDramScheduler, Express,
                         testing::ValuesIn(names_of(dram_scheduler_policies())), NamedByPolicy());

}  // namespace
}  // namespace lockstep::test::express_test
