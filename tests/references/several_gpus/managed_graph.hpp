#pragma once

// Reference of the workload managed_graph: rounds over all vertices.

#include "tests/references/buffers.hpp"

namespace lockstep::reference::managed_graph {

inline void run(const Parameters& parameters, Buffers& buffers) {
  const auto row = buffers.as<unsigned>("row");
  const auto column = buffers.as<unsigned>("column");
  const auto depth = buffers.as<int>("depth");
  const int vertices = integer(parameters, "vertices");
  depth[0] = 0;
  bool has_changed = true;
  for (int level = 0; has_changed; ++level) {
    has_changed = false;
    for (int vertex = 0; vertex < vertices; ++vertex) {
      if (depth[static_cast<std::size_t>(vertex)] != level) continue;
      for (unsigned edge = row[static_cast<std::size_t>(vertex)];
           edge < row[static_cast<std::size_t>(vertex) + 1]; ++edge) {
        if (depth[column[edge]] >= 0) continue;
        depth[column[edge]] = level + 1;
        has_changed = true;
      }
    }
  }
  buffers.as<unsigned>("changed")[0] = 0;
}

}  // namespace lockstep::reference::managed_graph
