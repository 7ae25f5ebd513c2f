#pragma once

// Reference of the workload mst: Kruskal's algorithm, edges of one weight in the order of their
// numbers.

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::mst {

inline unsigned root(std::vector<unsigned>& parent, unsigned vertex) {
  while (parent[vertex] != vertex) vertex = parent[vertex] = parent[parent[vertex]];
  return vertex;
}

inline void run(const Parameters& parameters, Buffers& buffers) {
  const auto row = buffers.as<unsigned>("row");
  const auto column = buffers.as<unsigned>("column");
  const auto weight = buffers.as<unsigned>("weight");
  const auto source = buffers.as<unsigned>("source");
  const auto vertices = static_cast<unsigned>(integer(parameters, "vertices"));
  for (unsigned vertex = 0; vertex < vertices; ++vertex) {
    for (unsigned edge = row[vertex]; edge < row[vertex + 1]; ++edge) source[edge] = vertex;
  }
  std::vector<unsigned> order(column.size()), parent(vertices);
  std::iota(order.begin(), order.end(), 0u);
  std::iota(parent.begin(), parent.end(), 0u);
  std::ranges::stable_sort(order, {}, [&](unsigned edge) { return weight[edge]; });
  for (const unsigned edge : order) {
    const unsigned from = root(parent, source[edge]), to = root(parent, column[edge]);
    if (from == to) continue;
    parent[from] = to;
    buffers.as<unsigned>("in_tree")[edge] = 1;
    buffers.as<std::uint64_t>("total")[0] += weight[edge];
  }
  // The last round joined nothing.
  buffers.as<unsigned>("changed")[0] = 0;
}

}  // namespace lockstep::reference::mst
