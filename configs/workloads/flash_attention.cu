// Compile for: sm_80
// Attention of B sequences of S queries and keys with H heads of 64 halves, as FlashAttention-2
// computes it (Dao, 2023): nothing of the S x S scores goes to memory.  All of [B][S][H][64].  S is
// a multiple of 64.  Backward makes the scores again, twice: by blocks of keys for dK and dV, by
// blocks of queries for dQ, so that no sum depends on the order of blocks.
#include "attention_tiles.cuh"

using namespace attention;

namespace {

// Where a head's rows begin, and how far they are apart.
struct Head {
  int pitch;
  size_t first;
  __device__ __forceinline__ Head(int heads, int length)
      : pitch(heads * width),
        first(static_cast<size_t>(blockIdx.z) * length * heads * width + blockIdx.y * width) {}
};
__device__ __forceinline__ size_t row_of(int heads, int length) {
  return (static_cast<size_t>(blockIdx.z) * heads + blockIdx.y) * length;
}

}  // namespace

extern "C" __global__ void __launch_bounds__(threads)
    flash_forward(const __half* __restrict__ q, const __half* __restrict__ k,
                  const __half* __restrict__ v, __half* __restrict__ out,
                  float* __restrict__ logarithms, int heads, int length, int causal, float scale) {
  __shared__ __align__(128) char memory[5 * tile_bytes];
  const Head head(heads, length);
  const int first = blockIdx.x * rows;
  const size_t at = head.first + static_cast<size_t>(first) * head.pitch;
  attend(q + at, k + head.first, v + head.first, out + at,
         logarithms + row_of(heads, length) + first, head.pitch, head.pitch, length, first,
         causal != 0, scale, memory);
}

// sums[row] = the sum of out * d_out: a warp for each row of a head.
extern "C" __global__ void __launch_bounds__(threads)
    flash_row_sums(const __half2* __restrict__ out, const __half2* __restrict__ d_out,
                   float* __restrict__ sums, int heads, int length) {
  const int row = blockIdx.x * (threads / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  const Head head(heads, length);
  const size_t at = (head.first + static_cast<size_t>(row) * head.pitch) / 2 + lane;
  const float2 a = __half22float2(out[at]), b = __half22float2(d_out[at]);
  float sum = fmaf(a.x, b.x, a.y * b.y);
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, apart);
  if (lane == 0) sums[row_of(heads, length) + row] = sum;
}

// Blocks of 64 keys: rows of all sums are keys, columns are queries.
extern "C" __global__ void __launch_bounds__(threads)
    flash_backward_keys(const __half* __restrict__ q, const __half* __restrict__ k,
                        const __half* __restrict__ v, const __half* __restrict__ d_out,
                        const float* __restrict__ logarithms, const float* __restrict__ sums,
                        __half* __restrict__ d_k, __half* __restrict__ d_v, int heads, int length,
                        int causal, float scale) {
  __shared__ __align__(128) char memory[4 * tile_bytes];
  const unsigned shared = tiles::shared_address(memory), query = shared + 2 * tile_bytes;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const Head head(heads, length);
  const size_t at = head.first + static_cast<size_t>(blockIdx.x) * rows * head.pitch;
  const float scale_2 = scale * log2_e;
  logarithms += row_of(heads, length);
  sums += row_of(heads, length);
  fetch(shared, k + at, head.pitch);
  fetch(shared + tile_bytes, v + at, head.pitch);

  Fragments key, value, left;
  Sums key_sum, value_sum, score, change;
  clear(key_sum);
  clear(value_sum);
  const int first = causal != 0 ? blockIdx.x : 0;
#pragma unroll 1
  for (int block = first; block < length / rows; ++block) {
    const size_t from = head.first + static_cast<size_t>(block) * rows * head.pitch;
    bring(query, q + from, d_out + from, head.pitch);
    if (block == first) {
      load_left(key, shared);
      load_left(value, shared + tile_bytes);
    }
    clear(score);
    add_by_rows(score, key, query);
    clear(change);
    add_by_rows(change, value, query + tile_bytes);
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const int column = 8 * j + lane % 4 * 2;
      const float2 top = *reinterpret_cast<const float2*>(logarithms + block * rows + column);
      const float2 sum = *reinterpret_cast<const float2*>(sums + block * rows + column);
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        const bool masked =
            causal != 0 && block == first && column + r % 2 < 16 * warp + lane / 4 + r / 2 * 8;
        const float p = exp2_of(fmaf(score[j][r], scale_2, -(r % 2 == 0 ? top.x : top.y)));
        score[j][r] = masked ? 0.0f : p;
        change[j][r] = score[j][r] * (change[j][r] - (r % 2 == 0 ? sum.x : sum.y));
      }
    }
    make_left(left, score);
    add_by_columns(value_sum, left, query + tile_bytes);
    make_left(left, change);
    add_by_columns(key_sum, left, query);
  }
  store(value_sum, 1.0f, d_v + at, head.pitch);
  store(key_sum, scale, d_k + at, head.pitch);
}

// Blocks of 64 queries.
extern "C" __global__ void __launch_bounds__(threads)
    flash_backward_queries(const __half* __restrict__ q, const __half* __restrict__ k,
                           const __half* __restrict__ v, const __half* __restrict__ d_out,
                           const float* __restrict__ logarithms, const float* __restrict__ sums,
                           __half* __restrict__ d_q, int heads, int length, int causal,
                           float scale) {
  __shared__ __align__(128) char memory[4 * tile_bytes];
  const unsigned shared = tiles::shared_address(memory), key = shared + 2 * tile_bytes;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const Head head(heads, length);
  const size_t at = head.first + static_cast<size_t>(blockIdx.x) * rows * head.pitch;
  const float scale_2 = scale * log2_e;
  fetch(shared, q + at, head.pitch);
  fetch(shared + tile_bytes, d_out + at, head.pitch);

  const size_t row = row_of(heads, length) + blockIdx.x * rows + 16 * warp + lane / 4;
  const float top[2] = {logarithms[row], logarithms[row + 8]};
  const float sum[2] = {sums[row], sums[row + 8]};
  Fragments query, gradient, left;
  Sums query_sum, score, change;
  clear(query_sum);
  const int blocks = causal != 0 ? blockIdx.x + 1 : length / rows;
#pragma unroll 1
  for (int block = 0; block < blocks; ++block) {
    const size_t from = head.first + static_cast<size_t>(block) * rows * head.pitch;
    bring(key, k + from, v + from, head.pitch);
    if (block == 0) {
      load_left(query, shared);
      load_left(gradient, shared + tile_bytes);
    }
    clear(score);
    add_by_rows(score, query, key);
    clear(change);
    add_by_rows(change, gradient, key + tile_bytes);
#pragma unroll
    for (int j = 0; j < 8; ++j)
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        const bool masked = causal != 0 && block + 1 == blocks &&
                            8 * j + lane % 4 * 2 + r % 2 > 16 * warp + lane / 4 + r / 2 * 8;
        const float p = exp2_of(fmaf(score[j][r], scale_2, -top[r / 2]));
        change[j][r] = (masked ? 0.0f : p) * (change[j][r] - sum[r / 2]);
      }
    make_left(left, change);
    add_by_columns(query_sum, left, key);
  }
  store(query_sum, scale, d_q + at, head.pitch);
}
