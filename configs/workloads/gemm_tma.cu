// Compile for: sm_90a
// c = a * b^T: tiles of a and b come by copies of tensor tiles, rows of 128 bytes with their swizzle, three stages deep;
// ldmatrix takes them from there; the tile of c goes back by a copy, too. a is m x k and b is n x k of f16, c is m x n of
// f32, of any size whose rows are multiples of 16 bytes: what lies outside comes as zeros, and is not stored.
#include "tensor_copies.cuh"

using copies::TensorMap;

constexpr int stages = 3;
constexpr int tile = 64;  // rows of a, rows of b, and f16 in a row
constexpr unsigned tile_bytes = tile * tile * 2;

__device__ void load_matrices(unsigned (&to)[4], unsigned from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from)
               : "memory");
}
__device__ void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// 128 threads; each warp has 32 x 32 of the block's 64 x 64.
extern "C" __global__ void gemm_tma(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                                    const __grid_constant__ TensorMap c, int k) {
  extern __shared__ __align__(1024) unsigned char room[];  // stages of a and of b; then the tile of c
  __shared__ unsigned long long full[stages];
  const unsigned room_at = copies::shared_address(room), full_at = copies::shared_address(full);
  const int m = blockIdx.y * tile, n = blockIdx.x * tile, steps = (k + tile - 1) / tile;
  const auto a_at = [&](int stage) { return room_at + 2 * stage * tile_bytes; };
  const auto fetch = [&](int step) {
    const int stage = step % stages;
    copies::expect(full_at + 8 * stage, 2 * tile_bytes);
    copies::load_tile(a_at(stage), &a, step * tile, m, full_at + 8 * stage);
    copies::load_tile(a_at(stage) + tile_bytes, &b, step * tile, n, full_at + 8 * stage);
  };
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s)
      copies::init(full_at + 8 * s, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    for (int s = 0; s < stages - 1 && s < steps; ++s) fetch(s);
  }
  __syncthreads();
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int top = warp / 2 * 32, left = warp % 2 * 32;
  float sums[2][4][4] = {};
  // 16 bytes `piece` of row `row` of a tile of 128-byte rows.
  const auto place = [](int row, int piece) { return row * 128 + ((piece ^ (row & 7)) << 4); };
  for (int step = 0; step < steps; ++step) {
    copies::wait(full_at + 8 * (step % stages), step / stages & 1);
    const unsigned a_tile = a_at(step % stages), b_tile = a_tile + tile_bytes;
    for (int slice = 0; slice < tile / 16; ++slice) {
      unsigned rows[2][4], columns[2][4];
      for (int i = 0; i < 2; ++i) {
        load_matrices(rows[i], a_tile + place(top + 16 * i + lane % 16, 2 * slice + lane / 16));
        load_matrices(columns[i],
                      b_tile + place(left + 16 * i + lane % 8 + lane / 16 * 8, 2 * slice + lane / 8 % 2));
      }
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 4; ++j)
          multiply(sums[i][j], rows[i], columns[j / 2][j % 2 * 2], columns[j / 2][j % 2 * 2 + 1]);
    }
    __syncthreads();  // all have read the stage of the step before
    if (threadIdx.x == 0 && step + stages - 1 < steps) fetch(step + stages - 1);
  }
  float* const result = reinterpret_cast<float*>(room);  // all stages have been read
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j)
      for (int e = 0; e < 4; ++e)
        result[(top + 16 * i + lane / 4 + e / 2 * 8) * tile + left + 8 * j + lane % 4 * 2 + e % 2] = sums[i][j][e];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x != 0) return;
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&c), "r"(n),
               "r"(m), "r"(room_at)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
