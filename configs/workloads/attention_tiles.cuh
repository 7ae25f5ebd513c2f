// Tiles of 64 rows of 64 halves, and the products that attention is made of.  Four warps; each has
// 16 rows of what it computes.  Needs sm_80.
#pragma once

#include "softmax_parts.cuh"
#include "tensor_tiles.cuh"

namespace attention {

constexpr int width = 64, rows = 64, threads = 128;
constexpr int tile_bytes = rows * width * 2;

using Sums = float[8][4];          // 16 x 64, as mma leaves it
using Fragments = unsigned[4][4];  // 16 x 64 halves, as mma wants its left side

__device__ __forceinline__ void clear(Sums& sums) {
#pragma unroll
  for (int j = 0; j < 8; ++j)
#pragma unroll
    for (int r = 0; r < 4; ++r) sums[j][r] = 0;
}

// Asks for 64 rows, `pitch` halves from one to the next.
__device__ __forceinline__ void fetch(unsigned tile, const __half* from, int pitch) {
  const int row = threadIdx.x / 8, piece = threadIdx.x % 8;
  const __half* at = from + static_cast<size_t>(row) * pitch + piece * 8;
  const unsigned to = tile + tiles::place(row, piece);
  tiles::for_each<4>([&](auto i) {
    tiles::copy_16<i.value * 2048>(to, at);
    at += 16 * pitch;
  });
}
// Two tiles that stand side by side, when nobody reads what was there; all threads wait for them.
__device__ __forceinline__ void bring(unsigned tiles_at, const __half* first, const __half* second, int pitch) {
  __syncthreads();
  fetch(tiles_at, first, pitch);
  fetch(tiles_at + tile_bytes, second, pitch);
  tiles::commit();
  tiles::wait<0>();
  __syncthreads();
}

// A warp's 16 rows of a tile.
__device__ __forceinline__ void load_left(Fragments& to, unsigned tile) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned at = tile + tiles::place(16 * warp + lane % 16, lane / 16);
  tiles::for_each<4>([&](auto k) { tiles::load_matrices(to[k.value], at ^ (k.value * 32)); });
}
// Sums as the left side of a further product.
__device__ __forceinline__ void make_left(Fragments& to, const Sums& from) {
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    to[k][0] = halves(from[2 * k][0], from[2 * k][1]);
    to[k][1] = halves(from[2 * k][2], from[2 * k][3]);
    to[k][2] = halves(from[2 * k + 1][0], from[2 * k + 1][1]);
    to[k][3] = halves(from[2 * k + 1][2], from[2 * k + 1][3]);
  }
}
__device__ __forceinline__ void add_products(Sums& d, const Fragments& a, int k, int j,
                                             const unsigned (&b)[4]) {
  tiles::F16::multiply(d[2 * j], a[k], b[0], b[1]);
  tiles::F16::multiply(d[2 * j + 1], a[k], b[2], b[3]);
}
// d += a * tile^T
__device__ __forceinline__ void add_by_rows(Sums& d, const Fragments& a, unsigned tile) {
  const int lane = threadIdx.x % 32;
  const unsigned at = tile + tiles::place(lane % 8 + lane / 16 * 8, lane / 8 % 2);
  tiles::for_each<4>([&](auto k) {
    tiles::for_each<4>([&](auto j) {
      unsigned b[4];
      tiles::load_matrices<j.value * 2048>(b, at ^ (k.value * 32));
      add_products(d, a, k.value, j.value, b);
    });
  });
}
// d += a * tile
__device__ __forceinline__ void add_by_columns(Sums& d, const Fragments& a, unsigned tile) {
  const int lane = threadIdx.x % 32;
  const unsigned at = tile + tiles::place(lane % 16, lane / 16);
  tiles::for_each<4>([&](auto k) {
    tiles::for_each<4>([&](auto j) {
      unsigned b[4];
      tiles::load_transposed<k.value * 2048>(b, at ^ (j.value * 32));
      add_products(d, a, k.value, j.value, b);
    });
  });
}

// A warp's 16 rows go to memory as halves.
__device__ __forceinline__ void store(const Sums& from, float scale, __half* to, int pitch) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    __half* row = to + static_cast<size_t>(16 * warp + 8 * half + lane / 4) * pitch + lane % 4 * 2;
#pragma unroll
    for (int j = 0; j < 8; ++j)
      *reinterpret_cast<unsigned*>(row + 8 * j) =
          halves(from[j][2 * half] * scale, from[j][2 * half + 1] * scale);
  }
}

// Attention of 64 queries: out = softmax(scale * q * k^T) * v, with the running maximum of
// FlashAttention-2 (Dao, 2023, algorithm 1).  `first`: number of the first query, for the causal
// mask. `logarithms`, if not null, get log2 of each row's sum of exponentials. `memory`: five
// tiles.
__device__ __forceinline__ void attend(const __half* q, const __half* k, const __half* v,
                                       __half* out, float* logarithms, int pitch, int out_pitch,
                                       int keys, int first, bool causal, float scale,
                                       const void* memory) {
  const unsigned shared = tiles::shared_address(memory);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int blocks = causal ? first / rows + 1 : keys / rows;
  const unsigned ring = shared + tile_bytes;  // K, V, K, V
  fetch(shared, q, pitch);
  fetch(ring, k, pitch);
  fetch(ring + tile_bytes, v, pitch);
  tiles::commit();

  Fragments query, probability;
  Sums output;
  clear(output);
  float largest[2] = {-1e30f, -1e30f}, total[2] = {0, 0};
  const float scale_2 = scale * log2_e;
#pragma unroll 1
  for (int block = 0; block < blocks; ++block) {
    const unsigned tile = ring + (block & 1) * 2 * tile_bytes;
    tiles::wait<0>();
    __syncthreads();
    if (block + 1 < blocks) {
      const unsigned next = ring + (~block & 1) * 2 * tile_bytes;
      const size_t at = static_cast<size_t>(block + 1) * rows * pitch;
      fetch(next, k + at, pitch);
      fetch(next + tile_bytes, v + at, pitch);
      tiles::commit();
    }
    if (block == 0) load_left(query, shared);
    Sums score;
    clear(score);
    add_by_rows(score, query, tile);
    if (causal && block + 1 == blocks) {
#pragma unroll
      for (int j = 0; j < 8; ++j)
#pragma unroll
        for (int r = 0; r < 4; ++r)
          if (8 * j + lane % 4 * 2 + r % 2 > 16 * warp + lane / 4 + r / 2 * 8) score[j][r] = -1e30f;
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float now = largest[half];
#pragma unroll
      for (int j = 0; j < 8; ++j)
        now = fmaxf(now, fmaxf(score[j][2 * half], score[j][2 * half + 1]));
      now = largest_of_row(now);
      const float shrink = exp2_of((largest[half] - now) * scale_2), top = now * scale_2;
      largest[half] = now;
      total[half] *= shrink;
#pragma unroll
      for (int j = 0; j < 8; ++j)
#pragma unroll
        for (int r = 2 * half; r < 2 * half + 2; ++r) {
          score[j][r] = exp2_of(fmaf(score[j][r], scale_2, -top));
          total[half] += score[j][r];
          output[j][r] *= shrink;
        }
    }
    make_left(probability, score);
    add_by_columns(output, probability, tile + tile_bytes);
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float sum = sum_of_row(total[half]), share = 1.0f / sum;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      output[j][2 * half] *= share;
      output[j][2 * half + 1] *= share;
    }
    if (logarithms != nullptr && lane % 4 == 0)
      logarithms[16 * warp + 8 * half + lane / 4] = fmaf(largest[half], scale_2, __log2f(sum));
  }
  store(output, 1.0f, out, out_pitch);
}

}  // namespace attention
