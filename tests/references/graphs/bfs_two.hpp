#pragma once

// Reference of the workload bfs_two: the textbook search with a queue, then the masks as the last
// level leaves them.

#include "tests/references/buffers.hpp"
#include "tests/references/graphs/bfs.hpp"

namespace lockstep::reference::bfs_two {

inline void run(const Parameters& parameters, Buffers& buffers) {
  const auto depth = buffers.as<int>("depth");
  bfs::search(parameters, buffers);
  for (std::size_t vertex = 0; vertex < depth.size(); ++vertex) {
    buffers.as<unsigned char>("visited")[vertex] = depth[vertex] >= 0 ? 1 : 0;
  }
  buffers.as<unsigned>("again")[0] = 0;
}

}  // namespace lockstep::reference::bfs_two
