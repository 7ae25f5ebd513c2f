// Compile for: sm_80
// Matrix product C = A * B of n x n matrices (n a multiple of 64) by matrix instructions: each block
// of four warps computes a 64 x 64 tile, each warp 32 x 32 of it.  A and B are rounded to f16 on
// their way into shared memory, sums are f32.  Rows of the tiles are padded so that eight of them
// lie in different banks.
#include <cuda_fp16.h>

constexpr int tile = 64;
constexpr int depth = 32;            // of a step along k
constexpr int a_pitch = depth + 8;   // halves from a row of the tile of A to the next
constexpr int b_pitch = tile + 8;    // likewise of B

__device__ inline unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}
__device__ inline void load_matrices(unsigned (&r)[4], const __half* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(row)));
}
__device__ inline void load_transposed(unsigned (&r)[4], const __half* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(row)));
}
__device__ inline void multiply(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
// Four numbers as f16 into a row of a tile.
__device__ inline void put_four(__half* to, const float4& from) {
  *reinterpret_cast<__half2*>(to) = __floats2half2_rn(from.x, from.y);
  *reinterpret_cast<__half2*>(to + 2) = __floats2half2_rn(from.z, from.w);
}

extern "C" __global__ void __launch_bounds__(128)
    gemm_mma(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
             int n) {
  __shared__ __align__(16) __half tile_a[tile * a_pitch];
  __shared__ __align__(16) __half tile_b[depth * b_pitch];
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  const int row = blockIdx.y * tile, column = blockIdx.x * tile;
  const int warp_row = warp / 2 * 32, warp_column = warp % 2 * 32;
  float sum[2][4][4] = {};
  for (int k = 0; k < n; k += depth) {
    for (int i = thread; i < tile * depth / 4; i += 128) {
      const int y = i / (depth / 4), x = i % (depth / 4) * 4;
      put_four(tile_a + y * a_pitch + x,
               *reinterpret_cast<const float4*>(a + (row + y) * n + k + x));
    }
    for (int i = thread; i < depth * tile / 4; i += 128) {
      const int y = i / (tile / 4), x = i % (tile / 4) * 4;
      put_four(tile_b + y * b_pitch + x,
               *reinterpret_cast<const float4*>(b + (k + y) * n + column + x));
    }
    __syncthreads();
#pragma unroll
    for (int step = 0; step < depth; step += 16) {
      unsigned left[2][4], right[2][4];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        load_matrices(left[i], tile_a + (warp_row + 16 * i + lane % 16) * a_pitch + step +
                                   lane / 16 * 8);
        load_transposed(right[i], tile_b + (step + lane % 16) * b_pitch + warp_column + 16 * i +
                                      lane / 16 * 8);
      }
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
          multiply(sum[i][j], left[i], right[j / 2][j % 2 * 2], right[j / 2][j % 2 * 2 + 1]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int y = row + warp_row + 16 * i + 8 * half + lane / 4;
        const int x = column + warp_column + 8 * j + lane % 4 * 2;
        *reinterpret_cast<float2*>(c + y * n + x) =
            make_float2(sum[i][j][2 * half], sum[i][j][2 * half + 1]);
      }
}
