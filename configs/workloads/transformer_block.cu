// Compile for: sm_80
// The parts of a block of GPT-2: rows are tokens.  Products of matrices by mma, with what follows
// them (bias, GELU, the residual sum) before they are stored.
#include "attention_tiles.cuh"
#include "rows.cuh"

namespace {

using Tile = tiles::Tile<tiles::F16, 64, 64, 32, 32>;

// out(row, column, two sums) for all of x * weights^T + bias.
template <class Out>
__device__ __forceinline__ void linear(const __half* x, const __half* weights, const float* bias,
                                       int k, Out out) {
  __shared__ __align__(128) char memory[Tile::shared_bytes];
  const int row = blockIdx.y * 64, column = blockIdx.x * 64;
  Tile tile;
  tile.run(x + static_cast<size_t>(row) * k, weights + static_cast<size_t>(column) * k, k, memory);
  tile.for_each_pair([&](int y, int x, float first, float second) {
    const float2 more = *reinterpret_cast<const float2*>(bias + column + x);
    out(row + y, column + x, first + more.x, second + more.y);
  });
}

}  // namespace

extern "C" __global__ void block_norm(const float* __restrict__ in, const float* __restrict__ gain,
                                      const float* __restrict__ bias, __half* __restrict__ out,
                                      int count, int columns) {
  const int row = rows::of_warp();
  if (row >= count) return;
  rows::normalise(in + static_cast<size_t>(row) * columns, columns, [&](int x, float value) {
    out[static_cast<size_t>(row) * columns + x] = __float2half_rn(fmaf(value, gain[x], bias[x]));
  });
}

extern "C" __global__ void __launch_bounds__(128)
    block_linear(const __half* __restrict__ x, const __half* __restrict__ weights,
                 const float* __restrict__ bias, __half* __restrict__ out, int n, int k) {
  linear(x, weights, bias, k, [&](int row, int column, float first, float second) {
    *reinterpret_cast<unsigned*>(out + static_cast<size_t>(row) * n + column) =
        halves(first, second);
  });
}
extern "C" __global__ void __launch_bounds__(128)
    block_linear_gelu(const __half* __restrict__ x, const __half* __restrict__ weights,
                      const float* __restrict__ bias, __half* __restrict__ out, int n, int k) {
  linear(x, weights, bias, k, [&](int row, int column, float first, float second) {
    *reinterpret_cast<unsigned*>(out + static_cast<size_t>(row) * n + column) =
        halves(rows::gelu(first), rows::gelu(second));
  });
}
// residual += x * weights^T + bias
extern "C" __global__ void __launch_bounds__(128)
    block_linear_residual(const __half* __restrict__ x, const __half* __restrict__ weights,
                          const float* __restrict__ bias, float* __restrict__ residual, int n,
                          int k) {
  linear(x, weights, bias, k, [&](int row, int column, float first, float second) {
    float2* to = reinterpret_cast<float2*>(residual + static_cast<size_t>(row) * n + column);
    const float2 before = *to;
    *to = make_float2(before.x + first, before.y + second);
  });
}

// Causal attention; rows of qkv hold queries, keys and values of all heads.
extern "C" __global__ void __launch_bounds__(128)
    block_attention(const __half* __restrict__ qkv, __half* __restrict__ out, int heads,
                    int length) {
  __shared__ __align__(128) char memory[5 * attention::tile_bytes];
  const int channels = heads * attention::width, pitch = 3 * channels;
  const int first = blockIdx.x * attention::rows;
  const __half* head =
      qkv + static_cast<size_t>(blockIdx.z) * length * pitch + blockIdx.y * attention::width;
  const size_t row = static_cast<size_t>(blockIdx.z) * length + first;
  attention::attend(head + static_cast<size_t>(first) * pitch, head + channels, head + 2 * channels,
                    out + row * channels + blockIdx.y * attention::width, nullptr, pitch, channels,
                    length, first, true, 0.125f, memory);
}
