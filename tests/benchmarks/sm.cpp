/// The SM alone: 80 of them in front of a memory that answers after a fixed time.
///
///   bench_sm [--benchmark_filter=sgemm]
///
/// `instructions` is warp instructions per second of host time.
#include <benchmark/benchmark.h>

#include "models/sm/parameters/sm_statistics.hpp"
#include "tests/unit/sm/machine/ideal_machine.hpp"

namespace lockstep {
namespace {

isa::Module workload(const std::string& name) {
  return isa::load_module(std::string(LOCKSTEP_SOURCE_DIR) + "/configs/workloads/" + name + ".ptx");
}

IdealMachine::Options v100(std::size_t memory_bytes) {
  IdealMachine::Options options;
  options.sms = 80;
  options.partitions = 32;
  options.memory_bytes = memory_bytes;
  return options;
}

/// A per-tenant counter summed over all SMs.
std::uint64_t sum_of(IdealMachine& machine, Counter SmStatistics::OfTenant::*counter) {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < 80; ++i) {
    const StatisticsView view =
        machine.sm(i).statistics(machine.clock().edge(Cycles{machine.cycle()}));
    sum += (static_cast<const SmStatistics*>(view.values)->tenant[0].*counter).value();
  }
  return sum;
}
std::uint64_t instructions_of(IdealMachine& machine) {
  return sum_of(machine, &SmStatistics::OfTenant::warp_instructions);
}

void report(benchmark::State& state, IdealMachine& machine, std::uint64_t before,
            std::int64_t cycles) {
  const auto instructions = static_cast<double>(instructions_of(machine) - before);
  state.counters["instructions"] = benchmark::Counter(
      instructions * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
  const auto runs = static_cast<double>(state.iterations());
  state.counters["lines"] =
      static_cast<double>(sum_of(machine, &SmStatistics::OfTenant::l1_accesses)) / runs;
  state.counters["sectors"] =
      static_cast<double>(sum_of(machine, &SmStatistics::OfTenant::sectors_requested)) / runs;
  state.counters["cycles"] = static_cast<double>(cycles);
  state.counters["warp_instructions"] = instructions;
}

void sgemm(benchmark::State& state) {
  const auto n = static_cast<std::uint32_t>(state.range(0));
  const std::uint64_t matrix = std::uint64_t{n} * n * 4;
  IdealMachine machine(workload("sgemm"), v100(3 * matrix));
  std::uint64_t before = 0;
  std::int64_t cycles = 0;
  for (auto _ : state) {
    before = instructions_of(machine);
    const std::int64_t start = machine.cycle();
    machine.launch("sgemm", {n / 16, n / 16, 1}, {16, 16, 1},
                   {machine.address(0), machine.address(matrix), machine.address(2 * matrix), n});
    cycles = machine.run() - start;
  }
  report(state, machine, before, cycles);
}
BENCHMARK(sgemm)->Arg(512)->Unit(benchmark::kMillisecond);

void vector_add(benchmark::State& state) {
  const auto n = static_cast<std::uint32_t>(state.range(0));
  IdealMachine machine(workload("vector_add"), v100(std::size_t{12} * n));
  std::uint64_t before = 0;
  std::int64_t cycles = 0;
  for (auto _ : state) {
    before = instructions_of(machine);
    const std::int64_t start = machine.cycle();
    machine.launch("vector_add", {n / 256, 1, 1}, {256, 1, 1},
                   {machine.address(0), machine.address(4ull * n), machine.address(8ull * n), n});
    cycles = machine.run() - start;
  }
  report(state, machine, before, cycles);
}
BENCHMARK(vector_add)->Arg(1 << 20)->Unit(benchmark::kMillisecond);

void stencil(benchmark::State& state) {
  const auto n = static_cast<std::uint32_t>(state.range(0));
  const std::uint64_t grid = std::uint64_t{n} * n * 4;
  IdealMachine machine(workload("stencil2d"), v100(2 * grid));
  std::uint64_t before = 0;
  std::int64_t cycles = 0;
  for (auto _ : state) {
    before = instructions_of(machine);
    const std::int64_t start = machine.cycle();
    machine.launch("stencil5", {n / 16, n / 16, 1}, {16, 16, 1},
                   {machine.address(0), machine.address(grid), n, n, 0x3f000000, 0x3e000000});
    cycles = machine.run() - start;
  }
  report(state, machine, before, cycles);
}
BENCHMARK(stencil)->Arg(1024)->Unit(benchmark::kMillisecond);

/// One level of a breadth-first search over a random graph in which half of the vertices are on it.
void bfs(benchmark::State& state) {
  const auto n = static_cast<std::uint32_t>(state.range(0));
  const std::uint32_t edges = 8 * n;
  const std::uint64_t row = 0, column = 8ull * n, depth = column + 4ull * edges,
                      changed = depth + 4ull * n;
  IdealMachine machine(workload("bfs"), v100(changed + 4096));
  std::uint64_t random = 1;
  const auto next = [&] {
    return (random = random * 6364136223846793005u + 1442695040888963407u) >> 33;
  };
  std::uint32_t at = 0;
  for (std::uint32_t v = 0; v < n; ++v) {
    machine.put<std::uint32_t>(row + 4ull * v, at);
    at = std::min<std::uint32_t>(edges, at + static_cast<std::uint32_t>(next() % 17));
  }
  machine.put<std::uint32_t>(row + 4ull * n, at);
  for (std::uint32_t e = 0; e < edges; ++e)
    machine.put<std::uint32_t>(column + 4ull * e, static_cast<std::uint32_t>(next() % n));
  std::uint64_t before = 0;
  std::int64_t cycles = 0;
  for (auto _ : state) {
    for (std::uint32_t v = 0; v < n; ++v)
      machine.put<std::int32_t>(depth + 4ull * v, next() % 2 ? 3 : -1);
    before = instructions_of(machine);
    const std::int64_t start = machine.cycle();
    machine.launch("bfs_level", {n / 256, 1, 1}, {256, 1, 1},
                   {machine.address(row), machine.address(column), machine.address(depth),
                    machine.address(changed), 3, n});
    cycles = machine.run() - start;
  }
  report(state, machine, before, cycles);
}
BENCHMARK(bfs)->Arg(1 << 17)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lockstep

BENCHMARK_MAIN();
