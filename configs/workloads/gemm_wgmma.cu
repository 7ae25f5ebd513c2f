// Compile for: sm_90a
// Matrix product C = A * B^T by products of warp groups; A is m x k, B is n x k, C is m x n, all of
// f16 by rows.  A block computes 128 x 128 of C.  One of its three warp groups brings tiles of A
// and B, 64 elements of K at a time, by asynchronous copies; two multiply, each 64 x 128, and take
// the registers that the first one gives back.  Barriers tell them of tiles that are full and that
// are free again.  m and n are multiples of 128, k of 64.  Sums of f32 are rounded to f16 when they
// are stored.
#include "warpgroup.cuh"

namespace {

constexpr int tile = 128, step = 64, row_bytes = 2 * step, stages = 4, ahead = 2;
constexpr int stage_bytes = 2 * tile * row_bytes, group = 128;

// Where a piece of 16 bytes of a row stands.
__device__ __forceinline__ unsigned place(int row, int piece) {
  return row * row_bytes + ((piece ^ (row & 7)) << 4);
}
__device__ __forceinline__ void copy(unsigned to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

struct Barriers {
  unsigned full, empty;  // of stage 0; the next one's are 8 bytes further
  __device__ __forceinline__ unsigned full_of(int stage) const { return full + 8 * stage; }
  __device__ __forceinline__ unsigned empty_of(int stage) const { return empty + 8 * stage; }
};

// 128 rows of one matrix: each thread copies a piece of every sixteenth row.
__device__ __forceinline__ void copy_rows(const __half* rows, int k, unsigned to) {
  const int first = threadIdx.x / 8, piece = threadIdx.x % 8;
#pragma unroll
  for (int row = first; row < tile; row += group / 8)
    copy(to + place(row, piece), rows + static_cast<size_t>(row) * k + piece * 8);
}

__device__ __forceinline__ void bring(const __half* a, const __half* b, int k, unsigned memory,
                                      const Barriers& barriers) {
  const int steps = k / step;
  for (int s = 0; s < steps + ahead; ++s) {
    if (s < steps) {
      const int stage = s % stages;
      if (s >= stages) copies::wait(barriers.empty_of(stage), (s / stages - 1) & 1);
      copy_rows(a + s * step, k, memory + stage * stage_bytes);
      copy_rows(b + s * step, k, memory + stage * stage_bytes + tile * row_bytes);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
    if (s < ahead) continue;
    asm volatile("cp.async.wait_group %0;" ::"n"(ahead) : "memory");
    warpgroup::publish();
    copies::arrive(barriers.full_of((s - ahead) % stages));
  }
}

__device__ __forceinline__ void multiply(float (&sum)[64], int number, int k, unsigned memory,
                                         const Barriers& barriers) {
  const int steps = k / step;
  for (int s = 0; s < steps; ++s) {
    const int stage = s % stages;
    copies::wait(barriers.full_of(stage), (s / stages) & 1);
    const unsigned a = memory + stage * stage_bytes + number * 64 * row_bytes;
    const unsigned b = memory + stage * stage_bytes + tile * row_bytes;
    warpgroup::begin();
#pragma unroll
    for (int part = 0; part < row_bytes / 32; ++part)
      warpgroup::multiply(sum, warpgroup::descriptor(a + 32 * part),
                          warpgroup::descriptor(b + 32 * part), s + part);
    warpgroup::commit();
    warpgroup::wait_for_all_but<1>();
    if (s > 0) copies::arrive(barriers.empty_of((s - 1) % stages));
  }
  warpgroup::wait_for_all_but<0>();
}

__device__ __forceinline__ void store(const float (&sum)[64], __half* c, int n) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x % group / 32;
  c += static_cast<size_t>(16 * warp + lane / 4) * n + lane % 4 * 2;
#pragma unroll
  for (int j = 0; j < 16; ++j)
#pragma unroll
    for (int half = 0; half < 2; ++half)
      *reinterpret_cast<__half2*>(c + static_cast<size_t>(8 * half) * n + 8 * j) =
          __floats2half2_rn(sum[4 * j + 2 * half], sum[4 * j + 2 * half + 1]);
}

}  // namespace

extern "C" __global__ void __launch_bounds__(3 * group, 1)
    gemm_wgmma(const __half* __restrict__ a, const __half* __restrict__ b, __half* __restrict__ c,
               int n, int k) {
  extern __shared__ __align__(1024) char memory[];
  __shared__ __align__(8) unsigned long long full[stages], empty[stages];
  const Barriers barriers{copies::shared_address(full), copies::shared_address(empty)};
  if (threadIdx.x == 0)
    for (int stage = 0; stage < stages; ++stage) {
      copies::init(barriers.full_of(stage), group);
      copies::init(barriers.empty_of(stage), 2 * group);
    }
  __syncthreads();
  const unsigned tiles = (copies::shared_address(memory) + 1023) & ~1023u;
  const size_t row = blockIdx.y * tile, column = blockIdx.x * tile;
  const int number = static_cast<int>(threadIdx.x) / group - 1;
  if (number < 0) {
    warpgroup::keep_registers<40>();
    bring(a + row * k, b + column * k, k, tiles, barriers);
  } else {
    warpgroup::take_registers<232>();
    float sum[64];
    multiply(sum, number, k, tiles, barriers);
    store(sum, c + (row + 64 * number) * n + column, n);
  }
}
