// Compile for: sm_90a
// Shared memory of another block of a cluster of two.  As HPMLL/NVIDIA-Hopper-Benchmark and Luo et al. (arXiv 2501.12084)
// measure it: a chain of loads by one thread, and what all threads of the blocks read or write.
__device__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}
__device__ unsigned rank() {
  unsigned r;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
  return r;
}
__device__ unsigned in_block(unsigned address, unsigned of_rank) {
  unsigned mapped;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(of_rank));
  return mapped;
}
__device__ void together() {
  asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
}
__device__ unsigned load(unsigned address) {
  unsigned value;
  asm volatile("ld.volatile.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(address));
  return value;
}

// Cycles of `hops` dependent loads by a thread of the first block, from shared memory of the second.
extern "C" __global__ void dsmem_chain(long long* cycles, int hops) {
  __shared__ unsigned room[1024];
  room[threadIdx.x] = in_block(shared_address(&room[(threadIdx.x + 8) % blockDim.x]), rank());
  together();
  if (rank() == 0 && threadIdx.x == 0) {
    unsigned at = in_block(shared_address(&room[0]), 1);
    at = load(at);
    const long long begin = clock64();
    for (int i = 0; i < hops; ++i) at = load(at);
    cycles[0] = clock64() - begin;
    cycles[1] = at;
  }
  together();
}

// Cycles in which every thread reads (`writes` 0) or writes 16 bytes of the other block's memory, so often; by block.
// `both` 0: only the first block does.
extern "C" __global__ void dsmem_stream(long long* cycles, int rounds, int writes, int both) {
  extern __shared__ uint4 rows[];
  rows[threadIdx.x] = make_uint4(threadIdx.x, 1, 2, 3);
  together();
  const unsigned at = in_block(shared_address(&rows[threadIdx.x]), rank() ^ 1);
  uint4 sum = make_uint4(0, 0, 0, 0);
  __syncthreads();
  const long long begin = clock64();
  if (rank() == 0 || both != 0) {
    for (int i = 0; i < rounds; ++i) {
      uint4 v = make_uint4(i, 1, 2, 3);
      if (writes != 0) {
        asm volatile("st.shared::cluster.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(v.x), "r"(v.y), "r"(v.z),
                     "r"(v.w)
                     : "memory");
      } else {
        asm volatile("ld.volatile.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                     : "r"(at));
        sum.x += v.x;
        sum.y += v.y;
      }
    }
    if (writes != 0) asm volatile("fence.acq_rel.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - begin + (sum.x == 1 && sum.y == 1 ? 1 : 0);
  together();
}

// Cycles of `rounds` barriers of the cluster.
extern "C" __global__ void cluster_barrier(long long* cycles, int rounds) {
  together();
  const long long begin = clock64();
  for (int i = 0; i < rounds; ++i) together();
  if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - begin;
}
