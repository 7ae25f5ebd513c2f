// Products by multiply-add of f32.  nvcc -arch=sm_75 -ptx gemm_fma.cu
#include "gemm.cuh"

constexpr int tile = 64, depth = 16, threads = 256;

// A block computes 64 x 64 elements, a thread 4 x 4 of them.
template <class In, class Out>
__device__ void multiply(const Gemm& g) {
  __shared__ float a[depth][tile + 1], b[depth][tile + 1];
  const In* from_a = (const In*)g.a + blockIdx.z * g.a_stride;
  const In* from_b = (const In*)g.b + blockIdx.z * g.b_stride;
  const int first_row = blockIdx.x * tile, first_column = blockIdx.y * tile;
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  float sum[4][4] = {};
  for (int k = 0; k < g.k; k += depth) {
#pragma unroll 1
    for (int i = threadIdx.x; i < tile * depth; i += threads) {
      const int row = g.a_turned ? i / depth : i % tile, row_k = g.a_turned ? i % depth : i / tile;
      a[row_k][row] = number(element(from_a, first_row + row, k + row_k, g.m, g.k, g.a_column, g.a_turned));
      const int column = g.b_turned ? i % tile : i / depth, column_k = g.b_turned ? i / tile : i % depth;
      b[column_k][column] = number(element(from_b, first_column + column, k + column_k, g.n, g.k, g.b_column, !g.b_turned));
    }
    __syncthreads();
    for (int l = 0; l < depth; ++l)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sum[i][j] = fmaf(a[l][x + 16 * i], b[l][y + 16 * j], sum[i][j]);
    __syncthreads();
  }
  for (int j = 0; j < 4; ++j)
    for (int i = 0; i < 4; ++i) write<Out>(g, first_row + x + 16 * i, first_column + y + 16 * j, sum[i][j]);
}

extern "C" __global__ void __launch_bounds__(threads) gemm_fma_f32_f32(const __grid_constant__ Gemm g) { multiply<float, float>(g); }
extern "C" __global__ void __launch_bounds__(threads) gemm_fma_f16_f32(const __grid_constant__ Gemm g) { multiply<__half, float>(g); }
extern "C" __global__ void __launch_bounds__(threads) gemm_fma_f16_f16(const __grid_constant__ Gemm g) { multiply<__half, __half>(g); }
extern "C" __global__ void __launch_bounds__(threads) gemm_fma_bf16_f32(const __grid_constant__ Gemm g) { multiply<__nv_bfloat16, float>(g); }
extern "C" __global__ void __launch_bounds__(threads) gemm_fma_bf16_bf16(const __grid_constant__ Gemm g) { multiply<__nv_bfloat16, __nv_bfloat16>(g); }
