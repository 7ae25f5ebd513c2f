#pragma once

// Reference of the workload sssp: Dijkstra's algorithm with a heap.

#include <functional>
#include <queue>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::sssp {

inline void run(const Parameters& parameters, Buffers& buffers) {
  const auto row = buffers.as<unsigned>("row");
  const auto column = buffers.as<unsigned>("column");
  const auto weight = buffers.as<unsigned>("weight");
  const auto distance = buffers.as<unsigned>("distance");
  using Visit = std::pair<unsigned, unsigned>;  // distance, vertex
  std::priority_queue<Visit, std::vector<Visit>, std::greater<>> heap;
  const auto reach = [&](unsigned vertex, unsigned found) {
    if (found >= distance[vertex]) return;
    distance[vertex] = found;
    heap.emplace(found, vertex);
  };
  reach(static_cast<unsigned>(integer(parameters, "source")), 0);
  while (!heap.empty()) {
    const auto [found, vertex] = heap.top();
    heap.pop();
    if (found != distance[vertex]) continue;
    for (unsigned edge = row[vertex]; edge < row[vertex + 1]; ++edge) {
      reach(column[edge], found + weight[edge]);
    }
  }
  buffers.bytes["nearer"] = buffers.bytes["distance"];
  // The last round brought nothing nearer.
  buffers.as<unsigned>("changed")[0] = 0;
}

}  // namespace lockstep::reference::sssp
