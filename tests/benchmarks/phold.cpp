/// The engine alone: PHOLD, in events per second of wall time.
///
///   bench_phold [--threads N] [--components N] [--events N] [--remote P] [--lookahead L]
///               [--duration T] [--work N] [--repeat N]
///
/// Times are in units of the mean increment.  Under mpirun the components are spread over the
/// ranks.
#include "tests/unit/core/engine/phold.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>

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

}  // namespace

int main(int argc, char** argv) {
  phold::Parameters parameters;
  EngineOptions options;
  double lookahead = 1;
  double duration = 20000;
  int repeat = 3;
  CLI::App app("PHOLD on the engine alone");
  app.add_option("--threads", options.threads, "threads per rank");
  app.add_option("--components", parameters.components, "logical processes");
  app.add_option("--events", parameters.events_per_component, "events per component");
  app.add_option("--remote", parameters.remote_probability, "share of events that travel");
  app.add_option("--lookahead", lookahead, "in mean increments");
  app.add_option("--duration", duration, "simulated time in mean increments");
  app.add_option("--work", parameters.work, "rounds of arithmetic per event, about 1 ns each");
  app.add_option("--repeat", repeat, "measurements");
  CLI11_PARSE(app, argc, argv);
  parameters.lookahead = Time{static_cast<std::int64_t>(lookahead * parameters.mean)};
  options.epoch = Time::never();
  options.stop_at = Time{static_cast<std::int64_t>(duration * parameters.mean)};

  MpiSession mpi(argc, argv);
  const Graph graph = phold::graph(parameters);
  for (int i = 0; i < repeat; ++i) {
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
