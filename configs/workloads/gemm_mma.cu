// Compile for: sm_80
// Matrix product C = A * B^T by matrix instructions; A is m x k, B is n x k, C is m x n, all by
// rows.  A block of four warps computes 128 x 128 of C, each warp 64 x 64; an A100's SM has two
// blocks. Tiles of A and B come by asynchronous copies, two steps of 128 bytes of K ahead;
// fragments of the next quarter of a step are loaded while those of this one multiply.  m and n are
// multiples of 128, k of 128 bytes.  Sums of f16 and bf16 are rounded to these when they are
// stored.
#include "tensor_tiles.cuh"

__device__ __forceinline__ void store(__half* to, const float4& four) {
  const __half2 two[2] = {__floats2half2_rn(four.x, four.y), __floats2half2_rn(four.z, four.w)};
  *reinterpret_cast<uint2*>(to) = *reinterpret_cast<const uint2*>(two);
}
__device__ __forceinline__ void store(__nv_bfloat16* to, const float4& four) {
  const __nv_bfloat162 two[2] = {__floats2bfloat162_rn(four.x, four.y),
                                 __floats2bfloat162_rn(four.z, four.w)};
  *reinterpret_cast<uint2*>(to) = *reinterpret_cast<const uint2*>(two);
}
__device__ __forceinline__ void store(float* to, const float4& four) {
  *reinterpret_cast<float4*>(to) = four;
}
__device__ __forceinline__ void store(int* to, const int4& four) {
  *reinterpret_cast<int4*>(to) = four;
}

template <class Product, class Result>
__device__ __forceinline__ void product(const typename Product::Element* a,
                                        const typename Product::Element* b, Result* c, int n,
                                        int k) {
  using Tile = tiles::Tile<Product, 128, 128, 64, 64>;
  extern __shared__ __align__(128) char memory[];
  const int row = blockIdx.y * 128, column = blockIdx.x * 128;
  Tile tile;
  tile.run(a + static_cast<size_t>(row) * k, b + static_cast<size_t>(column) * k, k, memory);
  c += static_cast<size_t>(row) * n + column;
  tile.for_each_four(memory, [&](int y, int x, const auto& four) { store(c + y * n + x, four); });
}

#define KERNEL(name, type, result)                                                                 \
  extern "C" __global__ void __launch_bounds__(128, 2)                                             \
      name(const tiles::type::Element* __restrict__ a, const tiles::type::Element* __restrict__ b, \
           result* __restrict__ c, int n, int k) {                                                 \
    product<tiles::type>(a, b, c, n, k);                                                           \
  }
KERNEL(gemm_f16, F16, __half)
KERNEL(gemm_bf16, BF16, __nv_bfloat16)
KERNEL(gemm_tf32, TF32, float)
KERNEL(gemm_s8, S8, int)
