/// What the distance rule is worth: windows per simulated millisecond of a scenario, with it and
/// with windows no longer than the shortest link.  Both runs must count the same in every epoch.
///
/// bench_windows SCENARIO [THREADS]
#include <cstdio>
#include <cstdlib>

#include "core/engine/engine.hpp"
#include "core/error/error.hpp"
#include "core/exec/communicator.hpp"
#include "core/output/epoch_statistics.hpp"
#include "models/gpu/machine.hpp"
#include "partitioner/partitioner.hpp"

namespace lockstep {
namespace {

/// Every epoch's statistics.
class Log final : public EpochObserver {
 public:
  Log(const Graph& graph, const StatisticsLayout& layout) : sampler_(graph, layout, nullptr) {}
  void prepare(std::span<const LocalComponent> components) override {
    sampler_.prepare(components);
  }
  void look(Time end, std::size_t number, const LocalComponent& component) override {
    sampler_.look(end, number, component);
  }
  std::vector<std::byte> sample(Time end, std::span<const LocalComponent> components) override {
    return sampler_.sample(end, components);
  }
  void collect(Time end, std::span<const std::vector<std::byte>> contributions) override {
    words.push_back(static_cast<std::uint64_t>(end.femtoseconds()));
    const std::span<const std::uint64_t> values = sampler_.merge(contributions);
    words.insert(words.end(), values.begin(), values.end());
  }
  std::vector<std::uint64_t> words;

 private:
  EpochStatistics sampler_;
};

struct Run {
  RunSummary summary;
  std::vector<std::uint64_t> statistics;
};

Run run(const std::string& file, int threads, Pacing pacing) {
  const Scenario scenario = read_scenario(file, {});
  const Machine machine(scenario, read_machine(scenario),
                        Machine::Options{.capture = false, .lowering = {}});
  EngineOptions options;
  options.epoch = machine.parameters().simulation.epoch;
  options.threads = threads;
  options.pacing = pacing;
  SelfCommunicator alone;
  Engine engine(
      machine.graph(), partition(machine.graph(), 1, threads, machine.host()),
      [&](ComponentId component) { return machine.build(component); }, alone, options);
  const StatisticsLayout layout = machine.statistics_layout();
  Log log(machine.graph(), layout);
  RunControl control;
  const RunSummary summary = engine.run(log, control);
  return {summary, std::move(log.words)};
}

void print(const char* name, const RunSummary& summary) {
  const double milliseconds = static_cast<double>(summary.end.femtoseconds()) * 1e-12;
  std::printf("| %s | %.0f | %.2f | %.1f %% |\n", name,
              static_cast<double>(summary.windows) / milliseconds, summary.wall_seconds,
              100 * summary.synchronisation_share);
}

int compare(const std::string& file, int threads) {
  const Run with = run(file, threads, Pacing::horizons);
  const Run without = run(file, threads, Pacing::shortest_link);
  std::printf(
      "| windows | per simulated ms | wall seconds | synchronisation |\n|---|---:|---:|---:|\n");
  print("by distances", with.summary);
  print("by the shortest link", without.summary);
  if (with.statistics == without.statistics) return 0;
  std::fprintf(stderr, "the two runs count differently\n");
  return 1;
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: bench_windows SCENARIO [THREADS]\n");
    return 2;
  }
  try {
    return lockstep::compare(argv[1], argc > 2 ? std::atoi(argv[2]) : 1);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_windows: %s\n", error.what());
    return 1;
  }
}
