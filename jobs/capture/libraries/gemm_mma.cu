// Products of f16 and bf16 by matrix instructions with f32 sums.  nvcc -arch=sm_80 -ptx gemm_mma.cu
#include "gemm.cuh"

constexpr int tile = 64, depth = 32, pitch = depth + 8, threads = 128;

__device__ inline void mma(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2], __half) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ inline void mma(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2], __nv_bfloat16) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// A block computes 64 x 64 elements, a warp 32 x 32 of them.  In shared memory k goes along a row.
template <class In, class Out>
__device__ void multiply(const Gemm& g) {
  __shared__ __align__(16) In a[tile][pitch], b[tile][pitch];
  const In* from_a = (const In*)g.a + blockIdx.z * g.a_stride;
  const In* from_b = (const In*)g.b + blockIdx.z * g.b_stride;
  const int first_row = blockIdx.x * tile, first_column = blockIdx.y * tile;
  const int warp = threadIdx.x / 32, group = threadIdx.x % 32 / 4, member = threadIdx.x % 4;
  const int warp_row = warp % 2 * 32, warp_column = warp / 2 * 32;
  float sum[2][4][4] = {};
  for (int k = 0; k < g.k; k += depth) {
#pragma unroll 1
    for (int i = threadIdx.x; i < tile * depth; i += threads) {
      const int row = g.a_turned ? i / depth : i % tile, row_k = g.a_turned ? i % depth : i / tile;
      a[row][row_k] = element(from_a, first_row + row, k + row_k, g.m, g.k, g.a_column, g.a_turned);
      const int column = g.b_turned ? i % tile : i / depth, column_k = g.b_turned ? i / tile : i % depth;
      b[column][column_k] = element(from_b, first_column + column, k + column_k, g.n, g.k, g.b_column, !g.b_turned);
    }
    __syncthreads();
    for (int step = 0; step < depth; step += 16) {
      unsigned left[2][4], right[4][2];
      for (int i = 0; i < 2; ++i)
        for (int r = 0; r < 4; ++r)
          left[i][r] = *(const unsigned*)&a[warp_row + 16 * i + group + 8 * (r % 2)][step + 2 * member + 8 * (r / 2)];
      for (int j = 0; j < 4; ++j)
        for (int r = 0; r < 2; ++r)
          right[j][r] = *(const unsigned*)&b[warp_column + 8 * j + group][step + 2 * member + 8 * r];
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 4; ++j) mma(sum[i][j], left[i], right[j], In());
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j)
      for (int r = 0; r < 4; ++r)
        write<Out>(g, first_row + warp_row + 16 * i + group + 8 * (r / 2),
                   first_column + warp_column + 8 * j + 2 * member + r % 2, sum[i][j][r]);
}

extern "C" __global__ void __launch_bounds__(threads) gemm_mma_f16_f32(const __grid_constant__ Gemm g) { multiply<__half, float>(g); }
extern "C" __global__ void __launch_bounds__(threads) gemm_mma_f16_f16(const __grid_constant__ Gemm g) { multiply<__half, __half>(g); }
extern "C" __global__ void __launch_bounds__(threads) gemm_mma_bf16_f32(const __grid_constant__ Gemm g) { multiply<__nv_bfloat16, float>(g); }
extern "C" __global__ void __launch_bounds__(threads) gemm_mma_bf16_bf16(const __grid_constant__ Gemm g) { multiply<__nv_bfloat16, __nv_bfloat16>(g); }
