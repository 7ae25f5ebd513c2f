/// Warp instructions per second and core of the interpreter, which `capture` and `--check` run:
/// kernels of configs/workloads on one thread.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "tests/unit/isa/isa_bench.hpp"

namespace {

using namespace lockstep::isa;

IsaBench module_of(const std::string& name) {
  return IsaBench::from_file(LOCKSTEP_SOURCE_DIR "/configs/workloads/" + name + ".ptx");
}

std::uint64_t floats(IsaBench& bench, std::uint32_t count) {
  return bench.buffer(std::vector<float>(count, 1));
}

template <class Run>
void measure(benchmark::State& state, const Run& run) {
  std::uint64_t instructions = 0;
  for (auto _ : state) instructions += run().warp_instructions;
  state.counters["warp_instructions/s"] =
      benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsRate);
}

void sgemm(benchmark::State& state) {
  constexpr std::uint32_t n = 512;
  IsaBench bench = module_of("sgemm");
  const auto a = floats(bench, n * n), b = floats(bench, n * n), c = floats(bench, n * n);
  measure(state, [&] { return bench.run("sgemm", {n / 16, n / 16, 1}, {16, 16, 1}, a, b, c, n); });
}
BENCHMARK(sgemm)->Unit(benchmark::kMillisecond);

void vector_add(benchmark::State& state) {
  constexpr std::uint32_t n = 1 << 20;
  IsaBench bench = module_of("vector_add");
  const auto a = floats(bench, n), b = floats(bench, n), c = floats(bench, n);
  measure(state, [&] { return bench.run("vector_add", {n / 256, 1, 1}, {256, 1, 1}, a, b, c, n); });
}
BENCHMARK(vector_add)->Unit(benchmark::kMillisecond);

void stencil(benchmark::State& state) {
  constexpr std::uint32_t n = 1024;
  IsaBench bench = module_of("stencil2d");
  const auto in = floats(bench, n * n), out = floats(bench, n * n);
  measure(state, [&] {
    return bench.run("stencil5", {n / 16, n / 16, 1}, {16, 16, 1}, in, out, n, n, 0.5F, 0.1F);
  });
}
BENCHMARK(stencil)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
