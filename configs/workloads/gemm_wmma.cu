// Matrix product C = A * B of n x n matrices (n a multiple of 32) by wmma fragments, as the CUDA
// programming guide shows them: each warp of a block of four computes 16 x 16 of C, with A and B
// rounded to f16 in shared memory and sums of f32.
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

constexpr int tile = 32;
constexpr int pitch = tile + 8;  // halves from a row of a tile to the next

extern "C" __global__ void __launch_bounds__(128)
    gemm_wmma(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
              int n) {
  __shared__ __align__(32) __half tile_a[tile * pitch], tile_b[tile * pitch];
  const int thread = threadIdx.x, warp = thread / 32;
  const int row = blockIdx.y * tile, column = blockIdx.x * tile;
  const int warp_row = warp / 2 * 16, warp_column = warp % 2 * 16;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < n; k += tile) {
    for (int i = thread; i < tile * tile; i += 128) {
      const int y = i / tile, x = i % tile;
      tile_a[y * pitch + x] = __float2half_rn(a[(row + y) * n + k + x]);
      tile_b[y * pitch + x] = __float2half_rn(b[(k + y) * n + column + x]);
    }
    __syncthreads();
    for (int step = 0; step < tile; step += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> left;
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> right;
      wmma::load_matrix_sync(left, tile_a + warp_row * pitch + step, pitch);
      wmma::load_matrix_sync(right, tile_b + step * pitch + warp_column, pitch);
      wmma::mma_sync(sum, left, right, sum);
    }
    __syncthreads();
  }
  wmma::store_matrix_sync(c + (row + warp_row) * n + column + warp_column, sum, n,
                          wmma::mem_row_major);
}
