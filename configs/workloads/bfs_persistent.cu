// Breadth-first search by one cooperative launch: persistent warps go through their vertices once a
// level, and all blocks wait for each other behind each level.
#include <cooperative_groups.h>

#include "warp_ranges.cuh"

extern "C" __global__ void search_begin(int* depth, int source) {
  depth[source] = 0;
}

// found[level % 3]: whether the level gave any vertex its depth. Depths that other SMs wrote are
// read past L1.
extern "C" __global__ void search(const unsigned* __restrict__ row,
                                  const unsigned* __restrict__ column, int* depth, unsigned* found,
                                  unsigned vertices, unsigned range) {
  for (int level = 0;; ++level) {
    if (blockIdx.x == 0 && threadIdx.x == 0) found[(level + 1) % 3] = 0;
    warp_ranges::visit_all(vertices, range, [&](unsigned vertex) {
      if (__ldcg(&depth[vertex]) != level) return;
      const unsigned end = row[vertex + 1];
      for (unsigned edge = row[vertex]; edge < end; ++edge) {
        const unsigned neighbour = column[edge];
        if (__ldcg(&depth[neighbour]) < 0) {
          depth[neighbour] = level + 1;
          found[level % 3] = 1;
        }
      }
    });
    cooperative_groups::this_grid().sync();
    if (__ldcg(&found[level % 3]) == 0) return;
  }
}
