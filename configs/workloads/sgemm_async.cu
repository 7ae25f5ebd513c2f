// Compile for: sm_80
// Dense matrix product C = A * B of n x n matrices (n a multiple of 16), as sgemm.cu, but tiles come
// by asynchronous copies: while a block multiplies one pair of tiles, the next is on its way.
constexpr int tile = 16;
constexpr int stages = 3;

__device__ void copy_async(float* to, const float* from) {
  const unsigned shared = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(from) : "memory");
}
__device__ void commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int newest>
__device__ void wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(newest) : "memory");
}

struct Tiles {
  float a[tile][tile], b[tile][tile];
};

// Threads 0 to 63 copy four floats of A each, 64 to 127 of B.
__device__ void fetch(Tiles& tiles, const float* a, const float* b, int n, int k) {
  const int t = threadIdx.y * tile + threadIdx.x;
  const int y = t / 4 % tile, x = t % 4 * 4;
  if (t < 64) {
    copy_async(&tiles.a[y][x], a + (blockIdx.y * tile + y) * n + k + x);
  } else if (t < 128) {
    copy_async(&tiles.b[y][x], b + (k + y) * n + blockIdx.x * tile + x);
  }
}

extern "C" __global__ void sgemm_async(const float* a, const float* b, float* c, int n) {
  __shared__ alignas(16) Tiles tiles[stages];
  for (int s = 0; s < stages - 1; ++s) {
    if (s * tile < n) fetch(tiles[s], a, b, n, s * tile);
    commit();
  }
  float sum = 0.0f;
  for (int k = 0, stage = 0; k < n; k += tile, stage = (stage + 1) % stages) {
    wait<stages - 2>();
    __syncthreads();
    const int next = k + (stages - 1) * tile;
    if (next < n) fetch(tiles[(stage + stages - 1) % stages], a, b, n, next);
    commit();
#pragma unroll
    for (int i = 0; i < tile; ++i)
      sum = fmaf(tiles[stage].a[threadIdx.y][i], tiles[stage].b[i][threadIdx.x], sum);
  }
  c[(blockIdx.y * tile + threadIdx.y) * n + blockIdx.x * tile + threadIdx.x] = sum;
}
