/// Shipped workloads keep their results under random latencies and queue depths, and on machines
/// that have one of everything.
#include <gtest/gtest.h>

#include "tests/properties/machine_bench.hpp"
#include "tests/properties/random/random_machine.hpp"

namespace lockstep::testing::workloads_test {
namespace {

struct Shipped {
  const char* name;
  const char* parameters;                     ///< small, so that a run takes well under a second
  const char* setting = "simulation.seed=1";  ///< that it needs
  const char* other_setting = "simulation.seed=1";
};

void PrintTo(const Shipped& workload, std::ostream* out) {
  *out << workload.name;
}

constexpr Shipped workloads[] = {
    {"sgemm", "{n: 48}"},
    {"sgemm_async", "{n: 48}"},
    {"scale_bulk", "{n: 9000}", "gpu.sm.bulk.lines_in_flight=16"},
    {"bfs", "{vertices: 512, edges: 4096, block: 128}"},
    {"histogram", "{n: 4096, block: 128, blocks: 4}"},
    {"reduction", "{n: 4096, block: 128, blocks: 8}"},
    {"persistent", "{n: 200, block: 64, blocks: 4}"},
    {"gemm_mma", "{k: 128}", "gpu.compute_capability=8.0"},
    {"flash_attention", "{heads: 1, length: 64}", "gpu.compute_capability=8.0"},
    {"attention_decode", "{batch: 2}"},
    {"gemm_wmma", "{n: 32}"},
    {"gemm_tma", "{m: 70, n: 68, k: 136}", "gpu.sm.bulk.lines_in_flight=16",
     "gpu.compute_capability=9.0"},
};

class Workloads : public ::testing::TestWithParam<Shipped> {
 protected:
  void expect_same(const std::vector<std::string>& settings, const Layout& layout,
                   const std::string& what) {
    const HangGuard guard(GetParam().name + (", " + what));
    std::vector<std::string> all = settings;
    all.emplace_back(GetParam().setting);
    all.emplace_back(GetParam().other_setting);
    const auto bench = MachineBench::shipped(GetParam().name, GetParam().parameters, all);
    EXPECT_EQ(bench->run(layout).problem, "") << what;
  }
};

TEST_P(Workloads, KeepTheirResultsUnderRandomLatenciesAndQueues) {
  const std::uint64_t first = first_seed(1), cases = cases_to_run(40);
  for (std::uint64_t seed = first; seed < first + cases && !HasFailure(); ++seed) {
    std::vector<std::string> settings = random_latencies(seed);
    settings.push_back("simulation.stop_at=2000ms");
    std::string what = "LOCKSTEP_SEED=" + std::to_string(seed);
    for (const std::string& setting : settings) what += " --set " + setting;
    expect_same(settings, Layout::random(seed), what);
  }
}

TEST_P(Workloads, RunOnMachinesWithOneOfEverything) {
  const std::string stop = "simulation.stop_at=2000ms";
  expect_same({stop, "gpu.sm.count=1"}, {}, "one SM");
  expect_same({stop, "gpu.memory.partitions=1"}, {}, "one partition");
  expect_same({stop, "gpu.sm.l1.mshrs=1", "gpu.sm.l1.merges=1"}, {}, "one MSHR");
  expect_same({stop, "gpu.memory.l2.mshrs=2", "gpu.memory.l2.merges=1"}, {}, "one MSHR per bank");
  expect_same({stop, "gpu.noc.credits=1", "gpu.sm.port.queue=1"}, {}, "one credit");
  expect_same({stop, "gpu.sm.blocks=1"}, {}, "one block");
  expect_same({stop, "gpu.memory.dram.queue=1", "gpu.memory.l2.bank_queue=1",
               "gpu.memory.l2.fill_queue=1", "gpu.memory.l2.response_queue=1"},
              {}, "queues of one");
  expect_same({stop, "gpu.sm.count=1", "gpu.memory.partitions=1", "gpu.sm.l1.mshrs=1",
               "gpu.sm.l1.merges=1", "gpu.noc.credits=1", "gpu.sm.port.queue=1",
               "gpu.sm.memory_queue=1", "gpu.memory.l2.mshrs=2", "gpu.memory.dram.queue=1"},
              {}, "one of everything");
}

INSTANTIATE_TEST_SUITE_P(Shipped, Workloads, ::testing::ValuesIn(workloads),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace lockstep::testing::workloads_test
