// Blocks of a cluster along x: who they are, arrivals at each other's barriers of mbarrier, tiles for
// several of them.  Needs sm_90a.
#pragma once

#include "tensor_copies.cuh"

namespace cluster {

__device__ __forceinline__ unsigned rank() {
  unsigned result;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(result));
  return result;
}
// All threads of the cluster have come; who waits sees what the others wrote before.
__device__ __forceinline__ void meet() {
  asm volatile(
      "barrier.cluster.arrive.release;\n"
      "barrier.cluster.wait.acquire;" ::
          : "memory");
}
// At the barrier that the block of this rank has at the same place.
__device__ __forceinline__ void arrive_at(unsigned barrier, unsigned rank) {
  asm volatile(
      "{\n"
      ".reg .b32 there;\n"
      "mapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\n"
      "}" ::"r"(barrier),
      "r"(rank)
      : "memory");
}
// A tile for each block of `ranks`, a bit for each: it goes to the same place in all of them, and
// counts at the barrier that each has at the same place.
__device__ __forceinline__ void load_tile(unsigned to, const copies::TensorMap* map, int x, int y,
                                          unsigned barrier, unsigned ranks) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
      "l"(map), "r"(x), "r"(y), "r"(barrier), "h"(static_cast<unsigned short>(ranks))
      : "memory");
}

}  // namespace cluster
