// Attention of one new token of each sequence to all before it, whose keys and values stand in
// pages of 16 tokens: a table says which pages are a sequence's (Kwon et al., "Efficient Memory
// Management for Large Language Model Serving with PagedAttention", SOSP 2023).  Caches are
// [page][head][16][64]. A block for each head and sequence; a warp takes every fourth page, eight
// lanes a token.
#include <cuda_fp16.h>

#include "softmax_parts.cuh"

constexpr int width = 64, tokens = 16, warps = 4;

struct Eight {
  float value[8];
};
__device__ __forceinline__ Eight load_eight(const __half* from) {
  const uint4 words = *reinterpret_cast<const uint4*>(from);
  const unsigned each[4] = {words.x, words.y, words.z, words.w};
  Eight result;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 two = __half22float2(*reinterpret_cast<const __half2*>(&each[i]));
    result.value[2 * i] = two.x;
    result.value[2 * i + 1] = two.y;
  }
  return result;
}

// What some of the tokens give: sums of values, weighted by 2^(score - largest).
struct Part {
  float largest = -1e30f, total = 0, sum[8] = {};

  __device__ __forceinline__ void add(float other_largest, float other_total,
                                      const float (&other)[8]) {
    const float now = fmaxf(largest, other_largest);
    const float mine = exp2f(largest - now), others = exp2f(other_largest - now);
    total = fmaf(total, mine, other_total * others);
#pragma unroll
    for (int i = 0; i < 8; ++i) sum[i] = fmaf(sum[i], mine, other[i] * others);
    largest = now;
  }
};

extern "C" __global__ void __launch_bounds__(32 * warps)
    attention_decode(const __half* __restrict__ q, const __half* __restrict__ keys,
                     const __half* __restrict__ values, const int* __restrict__ table,
                     const int* __restrict__ lengths, float* __restrict__ out, int heads,
                     int table_width, float scale) {
  __shared__ float shared[warps][10][8];  // largest, total, sums of each eight of the width
  const int head = blockIdx.x, sequence = blockIdx.y;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, piece = lane % 8;
  const int length = lengths[sequence];
  const Eight query = load_eight(q + (sequence * heads + head) * width + piece * 8);
  Part part;
  for (int page = warp; page * tokens < length; page += warps) {
    const size_t at =
        (static_cast<size_t>(table[sequence * table_width + page]) * heads + head) * tokens * width;
    for (int t = lane / 8; t < tokens; t += 4) {
      const Eight key = load_eight(keys + at + t * width + piece * 8);
      float score = 0;
#pragma unroll
      for (int i = 0; i < 8; ++i) score = fmaf(query.value[i], key.value[i], score);
#pragma unroll
      for (int apart = 4; apart > 0; apart /= 2)
        score += __shfl_xor_sync(0xffffffffu, score, apart);
      const Eight value = load_eight(values + at + t * width + piece * 8);
      if (page * tokens + t < length) part.add(score * scale * log2_e, 1.0f, value.value);
    }
  }
#pragma unroll
  for (int apart = 8; apart < 32; apart *= 2) {
    float other[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) other[i] = __shfl_xor_sync(0xffffffffu, part.sum[i], apart);
    part.add(__shfl_xor_sync(0xffffffffu, part.largest, apart),
             __shfl_xor_sync(0xffffffffu, part.total, apart), other);
  }
  if (lane < 8) {
    shared[warp][0][piece] = part.largest;
    shared[warp][1][piece] = part.total;
#pragma unroll
    for (int i = 0; i < 8; ++i) shared[warp][2 + i][piece] = part.sum[i];
  }
  __syncthreads();
  if (threadIdx.x >= 8) return;
  for (int w = 1; w < warps; ++w) {
    float other[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) other[i] = shared[w][2 + i][piece];
    part.add(shared[w][0][piece], shared[w][1][piece], other);
  }
  const float share = 1.0f / part.total;
#pragma unroll
  for (int i = 0; i < 8; ++i)
    out[(sequence * heads + head) * width + piece * 8 + i] = part.sum[i] * share;
}
