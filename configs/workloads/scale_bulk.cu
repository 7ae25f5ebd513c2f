// Compile for: sm_90a
// y = a x, streamed through shared memory by bulk copies: while the threads of a block scale one tile, the next are on
// their way, and those before it are stored.  An mbarrier for each stage counts the bytes that come.
constexpr int stages = 3;
constexpr int tile = 1024;

__device__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}
__device__ void expect(unsigned long long* barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
               : "memory");
}
__device__ void load(float* to, const float* from, unsigned bytes, unsigned long long* barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(to)),
               "l"(from), "r"(bytes), "r"(shared_address(barrier))
               : "memory");
}
__device__ void store(float* to, const float* from, unsigned bytes) {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(shared_address(from)),
               "r"(bytes)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
__device__ void wait(unsigned long long* barrier, unsigned parity) {
  asm volatile(
      "{\n.reg .pred done;\nagain:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n}" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
}

// n is a multiple of 4; block b has the tiles b, b + blocks, ...
extern "C" __global__ void scale_bulk(float* y, const float* x, float a, int n) {
  __shared__ alignas(128) float room[stages][tile];
  __shared__ unsigned long long full[stages];
  const int tiles = (n + tile - 1) / tile;
  const auto floats = [&](int t) { return min(tile, n - t * tile); };
  const auto fetch = [&](int stage, int t) {
    const unsigned bytes = 4 * floats(t);
    expect(&full[stage], bytes);
    load(room[stage], x + t * tile, bytes, &full[stage]);
  };
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s)
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&full[s])) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x == 0)
    for (int s = 0, t = blockIdx.x; s < stages - 1 && t < tiles; ++s, t += gridDim.x) fetch(s, t);
  for (int t = blockIdx.x, turn = 0; t < tiles; t += gridDim.x, ++turn) {
    const int stage = turn % stages;
    wait(&full[stage], turn / stages & 1);
    for (int i = threadIdx.x; i < floats(t); i += blockDim.x) room[stage][i] *= a;
    __syncthreads();
    if (threadIdx.x != 0) continue;
    store(y + t * tile, room[stage], 4 * floats(t));
    const int next = t + (stages - 1) * gridDim.x;
    if (next >= tiles) continue;
    // The stage of the turn before has been stored, or at least read.
    asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
    fetch((turn + stages - 1) % stages, next);
  }
  if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
