// Products by multiply-add of f32.  nvcc -arch=sm_75 -ptx gemm_fma.cu
#include "gemm.cuh"

constexpr int depth = 16, threads = 256;

// Element (across, along) of op(A), or of the transposition of op(B); zero outside.
template <class In>
__device__ float element(const In* from, int across, int along, int across_end, int along_end, int column, bool along_first) {
  if (across >= across_end || along >= along_end) return 0.0f;
  return number(from[along_first ? along + (long long)across * column : across + (long long)along * column]);
}

union Shared {
  struct { float a[depth][tile + 4], b[depth][tile + 4]; } tiles;
  Sums sums;
};

// A thread computes 4 x 4 of a block's elements.
template <class In, class Out>
__device__ void multiply(const Gemm& g) {
  __shared__ __align__(16) Shared shared;
  auto& [a, b] = shared.tiles;
  const In* from_a = (const In*)g.a + blockIdx.z * g.a_stride;
  const In* from_b = (const In*)g.b + blockIdx.z * g.b_stride;
  const int first_row = blockIdx.x * tile, first_column = blockIdx.y * tile;
  const int x = threadIdx.x % 16 * 4, y = threadIdx.x / 16 * 4;
  float sum[4][4] = {};
  for (int k = 0; k < g.k; k += depth) {
#pragma unroll 1
    for (int i = threadIdx.x; i < tile * depth; i += threads) {
      const int row = g.a_turned ? i / depth : i % tile, row_k = g.a_turned ? i % depth : i / tile;
      a[row_k][row] = element(from_a, first_row + row, k + row_k, g.m, g.k, g.a_column, g.a_turned);
      const int column = g.b_turned ? i % tile : i / depth, column_k = g.b_turned ? i / tile : i % depth;
      b[column_k][column] = element(from_b, first_column + column, k + column_k, g.n, g.k, g.b_column, !g.b_turned);
    }
    __syncthreads();
#pragma unroll 4
    for (int l = 0; l < depth; ++l) {
      const float4 left = *(const float4*)&a[l][x], right = *(const float4*)&b[l][y];
      const float rows[4] = {left.x, left.y, left.z, left.w}, columns[4] = {right.x, right.y, right.z, right.w};
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] = fmaf(rows[i], columns[j], sum[i][j]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int j = 0; j < 4; ++j) *(float4*)&shared.sums[y + j][x] = make_float4(sum[0][j], sum[1][j], sum[2][j], sum[3][j]);
  __syncthreads();
  write<Out, threads>(g, first_row, first_column, shared.sums);
}

extern "C" __global__ void __launch_bounds__(threads) gemm_fma_f32_f32(const __grid_constant__ Gemm g) { multiply<float, float>(g); }
extern "C" __global__ void __launch_bounds__(threads) gemm_fma_f16_f32(const __grid_constant__ Gemm g) { multiply<__half, float>(g); }
extern "C" __global__ void __launch_bounds__(threads) gemm_fma_f16_f16(const __grid_constant__ Gemm g) { multiply<__half, __half>(g); }
extern "C" __global__ void __launch_bounds__(threads) gemm_fma_bf16_f32(const __grid_constant__ Gemm g) { multiply<__nv_bfloat16, float>(g); }
extern "C" __global__ void __launch_bounds__(threads) gemm_fma_bf16_bf16(const __grid_constant__ Gemm g) { multiply<__nv_bfloat16, __nv_bfloat16>(g); }
