/// Two machines in one graph, without links between them: each does what it does alone.
#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "core/engine/engine.hpp"
#include "core/exec/loopback_ranks.hpp"
#include "core/parameters/document.hpp"
#include "core/statistics/schema.hpp"
#include "models/gpu/machine.hpp"
#include "models/host/host.hpp"

namespace lockstep::test::two_gpus_test {
namespace {

using namespace literals;

/// All end here, so that all have come equally far.
constexpr Time end_of_all = 400_us;

Scenario scenario(const std::string& tenant, const std::string& settings) {
  const std::string root = LOCKSTEP_SOURCE_DIR;
  const std::string text = "gpu: " + root + "/configs/gpus/tiny.yaml\nhost: " + root +
                           "/configs/hosts/pcie3.yaml\nsimulation: {epoch: 400us}\n" +
                           "override: {host.launch_overhead: 0ns, gpu.dispatch.launch_latency: 20" +
                           settings + "}\ntenants:\n  - {name: one, workload: " + root +
                           "/configs/workloads/" + tenant + "}\n";
  const Node document = parse_document(text, root + "/scenario.yaml");
  resolve_include_at(document, "gpu");
  resolve_include_at(document, "host");
  apply_overrides(document, document.find("override"));
  return read_scenario(document, "scenario");
}

/// Pages of managed memory that fault and migrate.
Scenario faulting() {
  return scenario("saxpy.yaml, memory: managed, parameters: {n: 3000}", "");
}
/// Another GPU, with copies, atomics, and policies that decide by epochs of a coordinator.
Scenario counting() {
  return scenario("histogram.yaml",
                  ", gpu.sm.count: 3, gpu.memory.partitions: 2, policies.dram_scheduler: atlas");
}

/// Counts of a component, and the state that it would save.
struct Left {
  std::vector<std::uint64_t> counts;
  std::string state;
};
/// Keys are names of components.
using States = std::map<std::string, Left>;

std::vector<std::uint64_t> counts_of(Component& component) {
  std::vector<StatisticsView> views = component.parts(end_of_all);
  views.insert(views.begin(), component.statistics(end_of_all));
  std::vector<std::uint64_t> counts;
  for (const StatisticsView& view : views) {
    if (view.schema == nullptr) continue;
    std::vector<std::uint64_t> row(view.schema->row_size(1));
    view.schema->gather(view.values, 1, row);
    counts.insert(counts.end(), row.begin(), row.end());
  }
  return counts;
}

States run(const Graph& graph, const ComponentFactory& factory, int ranks, int threads) {
  EngineOptions options;
  options.threads = threads;
  options.epoch = end_of_all;
  options.stop_at = end_of_all;
  States states;
  std::mutex mutex;
  LoopbackRanks(ranks).run([&](Communicator& communicator) {
    Engine engine(
        graph, Assignment::spread(graph, ranks, threads),
        [&](ComponentId id) {
          const std::lock_guard lock(mutex);
          return factory(id);
        },
        communicator, options);
    EXPECT_EQ(engine.run().end, end_of_all);
    const std::lock_guard lock(mutex);
    for (const LocalComponent& local : engine.components()) {
      std::ostringstream bytes;
      Archive archive = Archive::saving(bytes);
      local.component->serialize(archive);
      EXPECT_TRUE(local.component->finished()) << graph.name(local.id);
      states[graph.name(local.id)] = {counts_of(*local.component), bytes.str()};
    }
  });
  return states;
}

Machine::Options beside(Graph& graph, const std::string& prefix) {
  Machine::Options options;
  options.graph = &graph;
  options.prefix = prefix;
  return options;
}

States alone(const Scenario& scenario, const std::string& prefix) {
  Graph graph;
  const Machine machine(scenario, read_machine(scenario), beside(graph, prefix));
  return run(
      graph, [&](ComponentId id) { return machine.build(id); }, 1, 1);
}

TEST(TwoGpus, EachDoesBesideTheOtherWhatItDoesAlone) {
  const Scenario first = faulting(), second = counting();
  States expected = alone(first, "");
  expected.merge(alone(second, "other "));
  ASSERT_TRUE(expected.contains("sm[0]"));
  ASSERT_TRUE(expected.contains("other coordinator[0]"));
  EXPECT_NE(expected["sm[0]"].counts, expected["other sm[0]"].counts);

  Graph graph;
  const Machine one(first, read_machine(first), beside(graph, ""));
  const ComponentId border{static_cast<std::uint32_t>(graph.nodes().size())};
  const Machine other(second, read_machine(second), beside(graph, "other "));
  const auto build = [&](ComponentId id) { return id < border ? one.build(id) : other.build(id); };
  struct Layout {
    int ranks, threads;
  };
  for (const Layout layout : {Layout{1, 1}, {1, 2}, {2, 1}, {3, 1}}) {
    const States got = run(graph, build, layout.ranks, layout.threads);
    ASSERT_EQ(got.size(), expected.size());
    for (const auto& [name, alone] : expected) {
      SCOPED_TRACE(name + ", " + std::to_string(layout.ranks) + " ranks, " +
                   std::to_string(layout.threads) + " threads");
      EXPECT_EQ(got.at(name).counts, alone.counts);
      // Ranks meet at other times: a partition then has its requests at other places of its pool.
      EXPECT_TRUE(layout.ranks > 1 || got.at(name).state == alone.state);
    }
  }
}

TEST(TwoGpus, AMachineInAGraphOfItsOwnIsTheSame) {
  const Scenario scenario = faulting();
  const Machine machine(scenario, read_machine(scenario), {});
  const States expected = alone(scenario, "");
  const States got = run(
      machine.graph(), [&](ComponentId id) { return machine.build(id); }, 1, 1);
  ASSERT_EQ(got.size(), expected.size());
  for (const auto& [name, left] : expected) EXPECT_TRUE(got.at(name).state == left.state) << name;
}

}  // namespace
}  // namespace lockstep::test::two_gpus_test
