#pragma once

// Reference of the workload bfs: the textbook search with a queue.

#include <queue>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::bfs {

inline void search(const Parameters& parameters, Buffers& buffers) {
  const auto row = buffers.as<unsigned>("row");
  const auto column = buffers.as<unsigned>("column");
  const auto depth = buffers.as<int>("depth");
  std::queue<unsigned> frontier;
  frontier.push(static_cast<unsigned>(integer(parameters, "source")));
  depth[frontier.front()] = 0;
  while (!frontier.empty()) {
    const unsigned vertex = frontier.front();
    frontier.pop();
    for (unsigned edge = row[vertex]; edge < row[vertex + 1]; ++edge) {
      const unsigned neighbour = column[edge];
      if (depth[neighbour] >= 0) continue;
      depth[neighbour] = depth[vertex] + 1;
      frontier.push(neighbour);
    }
  }
}

inline void run(const Parameters& parameters, Buffers& buffers) {
  search(parameters, buffers);
  // The last level found nothing new.
  buffers.as<unsigned>("changed")[0] = 0;
}

}  // namespace lockstep::reference::bfs
