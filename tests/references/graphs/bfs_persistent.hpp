#pragma once

// Reference of the workload bfs_persistent: the textbook search, and which levels found a vertex.

#include <algorithm>

#include "tests/references/graphs/bfs.hpp"

namespace lockstep::reference::bfs_persistent {

inline void run(const Parameters& parameters, Buffers& buffers) {
  bfs::search(parameters, buffers);
  const auto depth = buffers.as<int>("depth");
  const int deepest = *std::max_element(depth.begin(), depth.end());
  // The level of the deepest vertices found nothing, and cleared the word of the level behind it.
  if (deepest > 0) buffers.as<unsigned>("found")[static_cast<std::size_t>((deepest - 1) % 3)] = 1;
}

}  // namespace lockstep::reference::bfs_persistent
