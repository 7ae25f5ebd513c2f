/// The engine alone: PHOLD, in events per second of wall time.
///
///   bench_phold [--threads N] [--components N] [--events N] [--remote P] [--lookahead L]
///               [--duration T] [--work N] [--repeat N]
///
/// Threads are per rank, components logical processes, events per component at the start; P is the
/// share of events that travel; work is rounds of arithmetic per event, about 1 ns each.  Times are
/// in units of the mean increment.  Under mpirun the components are spread over the ranks.
#include "tests/unit/core/engine/phold.hpp"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "core/engine/engine.hpp"
#include "core/exec/mpi_communicator.hpp"

namespace {

using namespace lockstep;

struct Measurement {
  double events_per_second;
  RunSummary summary;
  std::uint64_t digest;
};

Measurement measure(const phold::Parameters& parameters, const Graph& graph,
                    Communicator& communicator, const EngineOptions& options) {
  Engine engine(graph, Assignment::spread(graph, communicator.size(), options.threads),
                phold::factory(parameters), communicator, options);
  Measurement result{};
  result.summary = engine.run();
  struct Totals {
    std::uint64_t events = 0, digest = 0;
  } own;
  for (const LocalComponent& local : engine.components()) {
    const auto& holder = static_cast<const phold::Holder&>(*local.component);
    own.events += holder.handled();
    own.digest += phold::mix(holder.digest(), local.id.value());
  }
  const auto* begin = reinterpret_cast<const std::byte*>(&own);
  std::uint64_t events = 0;
  for (const Communicator::Bytes& bytes :
       communicator.gather(Communicator::Bytes(begin, begin + sizeof own))) {
    events += reinterpret_cast<const Totals*>(bytes.data())->events;
    result.digest += reinterpret_cast<const Totals*>(bytes.data())->digest;
  }
  result.events_per_second = static_cast<double>(events) / result.summary.wall_seconds;
  return result;
}

/// Takes `--name value` for the names that are there.
bool read_options(int argc, char** argv, std::map<std::string, double>& values) {
  for (int i = 1; i < argc; i += 2) {
    const auto option = values.find(argv[i]);
    char* end = nullptr;
    if (option != values.end() && i + 1 < argc) option->second = std::strtod(argv[i + 1], &end);
    if (end == nullptr || end == argv[i + 1] || *end != 0) {
      std::fprintf(stderr, "%s: options, each with a number, are", argv[i]);
      for (const auto& [name, value] : values) std::fprintf(stderr, " %s", name.c_str());
      std::fprintf(stderr, "\n");
      return false;
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  phold::Parameters parameters;
  EngineOptions options;
  std::map<std::string, double> given{
      {"--threads", options.threads},
      {"--components", parameters.components},
      {"--events", parameters.events_per_component},
      {"--remote", parameters.remote_probability},
      {"--lookahead", 1},
      {"--duration", 20000},
      {"--work", parameters.work},
      {"--repeat", 3},
  };
  if (!read_options(argc, argv, given)) return 2;
  options.threads = static_cast<int>(given["--threads"]);
  parameters.components = static_cast<std::uint32_t>(given["--components"]);
  parameters.events_per_component = static_cast<std::uint32_t>(given["--events"]);
  parameters.remote_probability = given["--remote"];
  parameters.lookahead =
      Time{static_cast<std::int64_t>(given["--lookahead"] * static_cast<double>(parameters.mean))};
  parameters.work = static_cast<std::uint32_t>(given["--work"]);
  options.epoch = Time::never();
  options.stop_at =
      Time{static_cast<std::int64_t>(given["--duration"] * static_cast<double>(parameters.mean))};

  MpiSession mpi(argc, argv);
  const Graph graph = phold::graph(parameters);
  for (int i = 0; i < given["--repeat"]; ++i) {
    const Measurement m = measure(parameters, graph, mpi.communicator(), options);
    if (mpi.communicator().rank() != 0) continue;
    std::printf(
        "%6.2f million events/s  ranks %d threads %d  windows %llu exchanges %llu  "
        "synchronisation %.1f %% imbalance %.1f %%  digest %016llx\n",
        m.events_per_second / 1e6, mpi.communicator().size(), options.threads,
        static_cast<unsigned long long>(m.summary.windows),
        static_cast<unsigned long long>(m.summary.exchanges), 100 * m.summary.synchronisation_share,
        100 * m.summary.imbalance_share, static_cast<unsigned long long>(m.digest));
  }
  return 0;
}
