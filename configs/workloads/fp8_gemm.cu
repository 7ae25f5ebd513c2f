// Compile for: sm_90a
// Matrix product C = X * Y^T of 8-bit floats (e4m3) with scales, as DeepGEMM computes it; X is m x
// k, Y is n x k, both of f16 by rows, C of bf16.  Two kernels make e4m3 of f16: X with a scale for
// 128 elements of a row, Y with one for 128 x 128.  The product then takes 128 elements of K at a
// time: tensor cores sum these with as few bits as they have for e4m3, and threads add the sums,
// times both scales, as f32.  A block computes 128 x 128 of C at a time, and as many tiles as come
// its way; one thread of its first warp group asks for tiles and scales, four steps ahead, two warp
// groups multiply.  m, n and k are multiples of 128.
#include <cuda_bf16.h>

#include "warpgroup.cuh"

namespace {

constexpr int side = 128, stages = 4, group = 128;
constexpr int tile_bytes = side * side, scale_bytes = side * 4;
constexpr int tiles_bytes = 2 * tile_bytes, stage_bytes = tiles_bytes + scale_bytes;
constexpr float largest_e4m3 = 448, least_scale_of = 1e-4f;

// --- To e4m3 ---

// Four halves that stand side by side.
struct Four {
  float of[4];
  __device__ __forceinline__ explicit Four(const __half* from) {
    const uint2 bits = *reinterpret_cast<const uint2*>(from);
    const float2 low = __half22float2(*reinterpret_cast<const __half2*>(&bits.x));
    const float2 high = __half22float2(*reinterpret_cast<const __half2*>(&bits.y));
    of[0] = low.x, of[1] = low.y, of[2] = high.x, of[3] = high.y;
  }
  __device__ __forceinline__ float largest() const {
    return fmaxf(fmaxf(fabsf(of[0]), fabsf(of[1])), fmaxf(fabsf(of[2]), fabsf(of[3])));
  }
  __device__ __forceinline__ unsigned codes(float scale) const {
    unsigned short low, high;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;"
        : "=h"(low)
        : "f"(__fdiv_rn(of[1], scale)), "f"(__fdiv_rn(of[0], scale)));
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;"
        : "=h"(high)
        : "f"(__fdiv_rn(of[3], scale)), "f"(__fdiv_rn(of[2], scale)));
    return low | static_cast<unsigned>(high) << 16;
  }
};
__device__ __forceinline__ float largest_of_warp(float x) {
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, apart));
  return x;
}
__device__ __forceinline__ float scale_of(float largest) {
  return __fdiv_rn(fmaxf(largest, least_scale_of), largest_e4m3);
}

// --- The product ---

// Stages in the order in which they are filled, over all tiles of the block.
using Stage = copies::Stage<stages>;
struct Tiles : copies::StageBarriers<stages> {
  unsigned memory;
  __device__ __forceinline__ unsigned a(const Stage& s) const {
    return memory + s.number * tiles_bytes;
  }
  __device__ __forceinline__ unsigned b(const Stage& s) const { return a(s) + tile_bytes; }
  __device__ __forceinline__ unsigned scales(const Stage& s) const {
    return memory + stages * tiles_bytes + s.number * scale_bytes;
  }
};

__device__ __forceinline__ void bring(const copies::TensorMap* a, const copies::TensorMap* b,
                                      const float* a_scales, int across, int count, int m, int k,
                                      const Tiles& tiles) {
  Stage stage;
  for (int tile = blockIdx.x; tile < count; tile += gridDim.x) {
    const int row = tile / across * side, column = tile % across * side;
    for (int at = 0; at < k; at += side, stage.advance()) {
      copies::wait(tiles.empty_of(stage), stage.parity ^ 1);
      copies::expect(tiles.full_of(stage), stage_bytes);
      copies::load_tile(tiles.a(stage), a, at, row, tiles.full_of(stage));
      copies::load_tile(tiles.b(stage), b, at, column, tiles.full_of(stage));
      copies::load_bytes(tiles.scales(stage), a_scales + static_cast<size_t>(at / side) * m + row,
                         scale_bytes, tiles.full_of(stage));
    }
  }
}

__device__ __forceinline__ float shared_float(unsigned address) {
  float result;
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(result) : "r"(address) : "memory");
  return result;
}

// `b_scales`: those of the tile's columns, one for each step.
__device__ __forceinline__ void multiply(float (&sum)[64], int number, int k, const float* b_scales,
                                         Stage& stage, const Tiles& tiles) {
  const int row = 64 * number + threadIdx.x % group / 32 * 16 + threadIdx.x % 32 / 4;
#pragma unroll
  for (int i = 0; i < 64; ++i) sum[i] = 0;
#pragma unroll 1
  for (int at = 0; at < k; at += side, stage.advance()) {
    const float b_scale = __ldg(b_scales + at / side);
    copies::wait(tiles.full_of(stage), stage.parity);
    float scale[2], part[64];
#pragma unroll
    for (int half = 0; half < 2; ++half)
      scale[half] = shared_float(tiles.scales(stage) + 4 * (row + 8 * half)) * b_scale;
    const unsigned a = tiles.a(stage) + number * 64 * side, b = tiles.b(stage);
    warpgroup::begin();
#pragma unroll
    for (int step = 0; step < side / 32; ++step)
      warpgroup::multiply_e4m3(part, warpgroup::descriptor(a + 32 * step),
                               warpgroup::descriptor(b + 32 * step), step);
    warpgroup::commit();
    warpgroup::wait_for_all_but<0>();
    copies::arrive(tiles.empty_of(stage));
#pragma unroll
    for (int i = 0; i < 64; ++i) sum[i] = fmaf(scale[i / 2 % 2], part[i], sum[i]);
  }
}

__device__ __forceinline__ void store(const float (&sum)[64], __nv_bfloat16* c, int n) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x % group / 32;
  c += static_cast<size_t>(16 * warp + lane / 4) * n + lane % 4 * 2;
#pragma unroll
  for (int j = 0; j < side / 8; ++j)
#pragma unroll
    for (int half = 0; half < 2; ++half)
      *reinterpret_cast<__nv_bfloat162*>(c + static_cast<size_t>(8 * half) * n + 8 * j) =
          __floats2bfloat162_rn(sum[4 * j + 2 * half], sum[4 * j + 2 * half + 1]);
}

}  // namespace

// A warp for 128 elements of a row; scales[k / 128][rows].
extern "C" __global__ void __launch_bounds__(128)
    to_e4m3_by_rows(const __half* __restrict__ in, unsigned* __restrict__ out,
                    float* __restrict__ scales, int rows, int k) {
  const int row = blockIdx.y * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  const size_t at = static_cast<size_t>(row) * k + blockIdx.x * side + lane * 4;
  const Four four(in + at);
  const float scale = scale_of(largest_of_warp(four.largest()));
  out[at / 4] = four.codes(scale);
  if (lane == 0) scales[static_cast<size_t>(blockIdx.x) * rows + row] = scale;
}
// A block of 8 warps for 128 x 128; scales[n / 128][k / 128].
extern "C" __global__ void __launch_bounds__(256)
    to_e4m3_by_blocks(const __half* __restrict__ in, unsigned* __restrict__ out,
                      float* __restrict__ scales, int k) {
  __shared__ float of_warp[8];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const size_t first =
      (static_cast<size_t>(blockIdx.y) * side + warp) * k + blockIdx.x * side + lane * 4;
  float largest = 0;
#pragma unroll 4
  for (int row = 0; row < side / 8; ++row)
    largest = fmaxf(largest, Four(in + first + static_cast<size_t>(8 * row) * k).largest());
  largest = largest_of_warp(largest);
  if (lane == 0) of_warp[warp] = largest;
  __syncthreads();
  const float scale = scale_of(largest_of_warp(of_warp[lane % 8]));
#pragma unroll 4
  for (int row = 0; row < side / 8; ++row) {
    const size_t at = first + static_cast<size_t>(8 * row) * k;
    out[at / 4] = Four(in + at).codes(scale);
  }
  if (threadIdx.x == 0) scales[static_cast<size_t>(blockIdx.y) * (k / side) + blockIdx.x] = scale;
}

extern "C" __global__ void __launch_bounds__(3 * group, 1)
    fp8_gemm(const __grid_constant__ copies::TensorMap a,
             const __grid_constant__ copies::TensorMap b, const float* __restrict__ a_scales,
             const float* __restrict__ b_scales, __nv_bfloat16* __restrict__ c, int m, int n,
             int k) {
  extern __shared__ __align__(1024) char memory[];
  __shared__ __align__(8) unsigned long long full[stages], empty[stages];
  const Tiles tiles{{copies::shared_address(full), copies::shared_address(empty)},
              (copies::shared_address(memory) + 1023) & ~1023u};
  if (threadIdx.x == 0) tiles.init_all(2 * group);
  __syncthreads();
  const int across = n / side, count = m / side * across;
  const int number = static_cast<int>(threadIdx.x) / group - 1;
  if (number < 0) {
    warpgroup::keep_registers<40>();
    if (threadIdx.x == 0) bring(&a, &b, a_scales, across, count, m, k, tiles);
    return;
  }
  warpgroup::take_registers<232>();
  Stage stage;
  for (int tile = blockIdx.x; tile < count; tile += gridDim.x) {
    float sum[64];
    multiply(sum, number, k, b_scales + static_cast<size_t>(tile % across) * (k / side), stage,
             tiles);
    store(sum,
          c + static_cast<size_t>(tile / across * side + 64 * number) * n + tile % across * side,
          n);
  }
}
