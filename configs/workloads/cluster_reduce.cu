// Compile for: sm_90a
// Sums of rows, a cluster of blocks a row: each block adds its part of the row, sends the sum to the first block of its
// cluster (st.async), which adds what has come, and tells all of them the total; each takes its part of the row times
// one over the total, so that rows add up to one.  Barriers of mbarrier say what has come.
constexpr int threads = 128;
constexpr int most_blocks = 16;

__device__ unsigned shared_address(const void* pointer) { return static_cast<unsigned>(__cvta_generic_to_shared(pointer)); }
__device__ unsigned in_block(unsigned address, unsigned rank) {
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}
__device__ void expect(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
__device__ void send(unsigned to, float value, unsigned barrier) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, [%2];" ::"r"(to), "f"(value),
               "r"(barrier)
               : "memory");
}
__device__ void wait(unsigned barrier) {
  asm volatile(
      "{\n"
      ".reg .pred over;\n"
      "again:\n"
      "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 over, [%0], 0;\n"
      "@!over bra again;\n"
      "}" ::"r"(barrier)
      : "memory");
}
__device__ void cluster_arrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
__device__ void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }

// The grid is as wide as the cluster, and has a row of blocks for each row of `values`.
extern "C" __global__ void cluster_reduce(const float* __restrict__ values, float* __restrict__ totals,
                                          float* __restrict__ shares, int columns) {
  __shared__ float parts[most_blocks], warps[threads / 32], total;
  __shared__ unsigned long long all_parts, has_total;
  unsigned rank, ranks;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(ranks));
  const unsigned parts_at = shared_address(parts), total_at = shared_address(&total);
  const unsigned all_parts_at = shared_address(&all_parts), has_total_at = shared_address(&has_total);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(all_parts_at) : "memory");
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(has_total_at) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    expect(all_parts_at, rank == 0 ? 4 * ranks : 0);
    expect(has_total_at, 4);
  }
  cluster_arrive();
  const float* row = values + static_cast<long long>(blockIdx.y) * columns;
  float sum = 0;
  for (unsigned i = rank * threads + threadIdx.x; i < columns; i += ranks * threads) sum += row[i];
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffff, sum, distance);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  cluster_wait();
  if (threadIdx.x == 0) {
    float part = 0;
    for (int w = 0; w < threads / 32; ++w) part += warps[w];
    send(in_block(parts_at + 4 * rank, 0), part, in_block(all_parts_at, 0));
  }
  if (rank == 0 && threadIdx.x < ranks) {
    wait(all_parts_at);
    float all = 0;
    for (unsigned r = 0; r < ranks; ++r) all += parts[r];
    send(in_block(total_at, threadIdx.x), all, in_block(has_total_at, threadIdx.x));
    if (threadIdx.x == 0) totals[blockIdx.y] = all;
  }
  wait(has_total_at);
  const float scale = 1 / total;
  float* out = shares + static_cast<long long>(blockIdx.y) * columns;
  for (unsigned i = rank * threads + threadIdx.x; i < columns; i += ranks * threads) out[i] = row[i] * scale;
  cluster_arrive();  // nobody ends while others may send it something
  cluster_wait();
}
