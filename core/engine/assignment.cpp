#include "core/engine/assignment.hpp"

#include <algorithm>

namespace lockstep {

Assignment Assignment::spread(const Graph& graph, int ranks, int threads) {
  Assignment result;
  result.places.resize(graph.nodes().size());
  const std::size_t workers = static_cast<std::size_t>(ranks) * static_cast<std::size_t>(threads);
  std::size_t first_worker = 0;  // first worker of the next kind: hubs do not share a worker
  for (std::size_t kind = 0; kind < graph.kinds().size(); ++kind) {
    double total = 0;
    for (const Graph::Node& node : graph.nodes()) {
      if (node.kind.value() == kind) total += node.weight;
    }
    double before = 0;
    std::size_t last = 0;
    for (std::size_t id = 0; id < graph.nodes().size(); ++id) {
      const Graph::Node& node = graph.nodes()[id];
      if (node.kind.value() != kind) continue;
      const double middle = total > 0 ? (before + node.weight / 2) / total : 0;
      last = std::min(static_cast<std::size_t>(middle * static_cast<double>(workers)), workers - 1);
      const std::size_t worker = (first_worker + last) % workers;
      result.places[id] = {static_cast<int>(worker / static_cast<std::size_t>(threads)),
                           static_cast<int>(worker % static_cast<std::size_t>(threads))};
      before += node.weight;
    }
    first_worker = (first_worker + last + 1) % workers;
  }
  return result;
}

}  // namespace lockstep
