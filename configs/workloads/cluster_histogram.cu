// Compile for: sm_90a
// Histogram whose bins are dealt to the blocks of a cluster: each block counts its values in the shared memory of the
// block that has their bin.  Source: CUDA Programming Guide, "Distributed Shared Memory".
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

extern "C" __global__ void cluster_histogram(const unsigned* __restrict__ data, unsigned* __restrict__ counts, int n,
                                             int bins) {
  extern __shared__ unsigned own[];  // bins of this block
  const cg::cluster_group cluster = cg::this_cluster();
  const int ranks = static_cast<int>(cluster.num_blocks()), rank = static_cast<int>(cluster.block_rank());
  const int each = (bins + ranks - 1) / ranks;
  for (int i = threadIdx.x; i < each; i += blockDim.x) own[i] = 0;
  cluster.sync();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const int bin = static_cast<int>(data[i] % static_cast<unsigned>(bins));
    atomicAdd(cluster.map_shared_rank(own, bin / each) + bin % each, 1u);
  }
  cluster.sync();
  for (int i = threadIdx.x; i < each && rank * each + i < bins; i += blockDim.x)
    if (own[i] != 0) atomicAdd(&counts[rank * each + i], own[i]);
}
