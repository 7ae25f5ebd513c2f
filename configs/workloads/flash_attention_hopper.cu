// Compile for: sm_90a
// Attention, forward, of B sequences of S queries and keys with H heads of 64 or 128 halves, as
// FlashAttention-3 computes it (Shah et al., 2024); all of [B][S][H][width], S a multiple of 128.
// A block has 128 queries of a head.  One thread of its first warp group asks for tiles of 128 keys
// and of as many values, two ahead, the last keys first; two warp groups have 64 queries each, and
// take the registers that the first one gives back.  A group asks for the scores of the next keys
// and for its sums of values before it waits for those scores: products of values go on beside the
// exponentials.  Named barriers let the groups ask by turns, so that one has its exponentials while
// the other multiplies.
#include "softmax_parts.cuh"
#include "warpgroup.cuh"

namespace {

constexpr int rows = 128, row_bytes = 128, stages = 2, group = 128;
constexpr int half_tile = rows * row_bytes;  // 128 rows of 64 halves

// Threads of a named barrier: those that wait at it, and those that only say that they came.
__device__ __forceinline__ void meet(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
__device__ __forceinline__ void come(int barrier, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

// Where tiles stand: queries, two stages of keys, two of values; and the barriers that say that a
// tile is there, and that it has been read.
template <int width>
struct Room {
  static constexpr int tile = width / 64 * half_tile;
  unsigned memory, barriers;
  struct Stage {
    unsigned tile, full, empty, parity;
  };
  __device__ __forceinline__ unsigned queries() const { return memory; }
  __device__ __forceinline__ unsigned queries_full() const { return barriers; }
  __device__ __forceinline__ Stage stage(int kind, int number) const {
    const int s = kind * stages + number % stages;
    return {memory + (1 + s) * tile, barriers + 8 + 16 * s, barriers + 16 + 16 * s,
            static_cast<unsigned>(number / stages & 1)};
  }
  __device__ __forceinline__ Stage keys(int number) const { return stage(0, number); }
  __device__ __forceinline__ Stage values(int number) const { return stage(1, number); }
};

// A tile of 128 rows from row `y` of sequence `z` on; x: its first column.
template <int width>
__device__ __forceinline__ void bring(const typename Room<width>::Stage& to,
                                      const copies::TensorMap* map, int x, int y, int z) {
  copies::wait(to.empty, to.parity ^ 1);
  copies::expect(to.full, Room<width>::tile);
#pragma unroll
  for (int part = 0; part < width / 64; ++part)
    copies::load_tile(to.tile + part * half_tile, map, x + 64 * part, y, z, to.full);
}
template <int width>
__device__ __forceinline__ void bring_all(const copies::TensorMap* q, const copies::TensorMap* k,
                                          const copies::TensorMap* v, int first, int blocks,
                                          const Room<width>& room) {
  const int x = blockIdx.y * width, z = blockIdx.z;
  for (int number = 0; number < blocks; ++number) {
    bring<width>(room.keys(number), k, x, (blocks - 1 - number) * rows, z);
    if (number == 0) {
      copies::expect(room.queries_full(), Room<width>::tile);
#pragma unroll
      for (int part = 0; part < width / 64; ++part)
#pragma unroll
        for (int half = 0; half < 2; ++half)
          copies::load_tile(room.queries() + part * half_tile + half * half_tile / 2, q,
                            x + 64 * part, first + 64 * half, z, room.queries_full());
    } else {
      bring<width>(room.values(number - 1), v, x, (blocks - number) * rows, z);
    }
  }
  bring<width>(room.values(blocks - 1), v, x, 0, z);
}

// score = queries * keys^T, asked for.
template <int width>
__device__ __forceinline__ void ask_for_scores(float (&score)[64], unsigned queries,
                                               unsigned keys) {
  warpgroup::begin();
#pragma unroll
  for (int part = 0; part < width / 16; ++part) {
    const unsigned at = part / 4 * half_tile + part % 4 * 32;
    warpgroup::multiply(score, warpgroup::descriptor(queries + at),
                        warpgroup::descriptor(keys + at), part);
  }
  warpgroup::commit();
}
// output += share * values, asked for.
template <int sums>
__device__ __forceinline__ void ask_for_sums(float (&output)[sums], const unsigned (&share)[8][4],
                                             unsigned values) {
  warpgroup::begin();
#pragma unroll
  for (int part = 0; part < 8; ++part)
    warpgroup::add_product(
        output, share[part],
        warpgroup::descriptor_by_rows(values + part * 16 * row_bytes, half_tile));
  warpgroup::commit();
}

// What a thread knows of its two rows of queries.
struct Rows {
  float largest[2] = {-1e30f, -1e30f}, total[2] = {0, 0};

  // Scores become exponentials; `shrink`: what all before them are worth now.  Rows and pairs of
  // columns take turns, so that no instruction waits for the one before it.
  __device__ __forceinline__ void take(float (&score)[64], float scale_2, float (&shrink)[2]) {
    float now[2][2], top[2], sum[2][2];
#pragma unroll
    for (int i = 0; i < 4; ++i) now[i / 2][i % 2] = fmaxf(largest[i / 2], score[i]);
#pragma unroll
    for (int i = 4; i < 64; ++i) now[i / 2 % 2][i % 2] = fmaxf(now[i / 2 % 2][i % 2], score[i]);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float row = largest_of_row(fmaxf(now[half][0], now[half][1]));
      top[half] = row * scale_2;
      shrink[half] = exp2_of(fmaf(largest[half], scale_2, -top[half]));
      largest[half] = row;
    }
#pragma unroll
    for (int i = 0; i < 64; ++i) score[i] = fmaf(score[i], scale_2, -top[i / 2 % 2]);
#pragma unroll
    for (int i = 0; i < 64; ++i) score[i] = exp2_of(score[i]);
#pragma unroll
    for (int i = 0; i < 4; ++i) sum[i / 2][i % 2] = score[i];
#pragma unroll
    for (int i = 4; i < 64; ++i) sum[i / 2 % 2][i % 2] += score[i];
#pragma unroll
    for (int half = 0; half < 2; ++half)
      total[half] = fmaf(total[half], shrink[half], sum[half][0] + sum[half][1]);
  }
};

__device__ __forceinline__ void make_left(unsigned (&share)[8][4], const float (&score)[64]) {
#pragma unroll
  for (int part = 0; part < 8; ++part)
#pragma unroll
    for (int r = 0; r < 4; ++r)
      share[part][r] = halves(score[8 * part + 2 * r], score[8 * part + 2 * r + 1]);
}
template <int sums>
__device__ __forceinline__ void multiply_rows(float (&output)[sums], const float (&by)[2]) {
#pragma unroll
  for (int i = 0; i < sums; ++i) output[i] *= by[i / 2 % 2];
}
// Keys behind a query do not count; the block of keys begins where that of queries does.
__device__ __forceinline__ void mask(float (&score)[64], int row) {
  const int column = threadIdx.x % 4 * 2;
#pragma unroll
  for (int i = 0; i < 64; ++i)
    if (i / 4 * 8 + column + i % 2 > row + i / 2 % 2 * 8) score[i] = -1e30f;
}

// A warp group's rows go where its queries were, and from there to memory.
template <int width>
__device__ __forceinline__ void store(const float (&output)[width / 2], unsigned tile, int number,
                                      const copies::TensorMap* out, int first) {
  const int lane = threadIdx.x % 32, row = threadIdx.x % group / 32 * 16 + lane % 16;
#pragma unroll
  for (int j = 0; j < width / 16; ++j) {
    const unsigned at =
        tile + j / 4 * half_tile + row * row_bytes + (((j % 4 * 2 + lane / 16) ^ (row & 7)) << 4);
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(at),
                 "r"(halves(output[8 * j], output[8 * j + 1])),
                 "r"(halves(output[8 * j + 2], output[8 * j + 3])),
                 "r"(halves(output[8 * j + 4], output[8 * j + 5])),
                 "r"(halves(output[8 * j + 6], output[8 * j + 7]))
                 : "memory");
  }
  warpgroup::publish();
  meet(3 + number, group);
  if (threadIdx.x % group != 0) return;
#pragma unroll
  for (int part = 0; part < width / 64; ++part)
    copies::store_tile(out, blockIdx.y * width + 64 * part, first, blockIdx.z,
                       tile + part * half_tile);
  copies::finish_stores();
}

template <int width>
__device__ __forceinline__ void attend(const copies::TensorMap* out, float* logarithms, int first,
                                       int blocks, bool causal, float scale_2, int number,
                                       const Room<width>& room) {
  const unsigned queries = room.queries() + number * half_tile / 2;
  const int row = threadIdx.x % group / 32 * 16 + threadIdx.x % 32 / 4;
  float score[64], output[width / 2], shrink[2];
  unsigned share[8][4];
  Rows of;
#pragma unroll
  for (int i = 0; i < width / 2; ++i) output[i] = 0;
  if (number == 1 && blocks > 1) come(1, 2 * group);  // the first group is the first to ask

  auto keys = room.keys(0);
  copies::wait(room.queries_full(), 0);
  copies::wait(keys.full, keys.parity);
  ask_for_scores<width>(score, queries, keys.tile);
  warpgroup::wait_for_all_but<0>();
  copies::arrive(keys.empty);
  if (causal) mask(score, 64 * number + row);
  of.take(score, scale_2, shrink);
  make_left(share, score);
#pragma unroll 1
  for (int block = 1; block < blocks; ++block) {
    keys = room.keys(block);
    const auto values = room.values(block - 1);
    copies::wait(keys.full, keys.parity);
    meet(1 + number, 2 * group);
    ask_for_scores<width>(score, queries, keys.tile);
    copies::wait(values.full, values.parity);
    ask_for_sums(output, share, values.tile);
    if (number == 0 || block + 1 < blocks) come(2 - number, 2 * group);
    warpgroup::wait_for_all_but<1>();
    copies::arrive(keys.empty);
    of.take(score, scale_2, shrink);
    warpgroup::wait_for_all_but<0>();
    copies::arrive(values.empty);
    make_left(share, score);
    multiply_rows(output, shrink);
  }
  const auto values = room.values(blocks - 1);
  copies::wait(values.full, values.parity);
  ask_for_sums(output, share, values.tile);
  float part[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float sum = sum_of_row(of.total[half]);
    part[half] = 1.0f / sum;
    if (threadIdx.x % 4 == 0)
      logarithms[row + 8 * half] = fmaf(of.largest[half], scale_2, __log2f(sum));
  }
  warpgroup::wait_for_all_but<0>();
  multiply_rows(output, part);
  store<width>(output, queries, number, out, first);
}

template <int width>
__device__ __forceinline__ void forward(const copies::TensorMap* q, const copies::TensorMap* k,
                                        const copies::TensorMap* v, const copies::TensorMap* out,
                                        float* logarithms, int heads, int length, int causal,
                                        float scale) {
  extern __shared__ __align__(1024) char memory[];
  __shared__ __align__(8) unsigned long long barriers[1 + 4 * stages];
  const Room<width> room{(copies::shared_address(memory) + 1023) & ~1023u,
                         copies::shared_address(barriers)};
  if (threadIdx.x == 0) {
    copies::init(room.queries_full(), 1);
    for (int kind = 0; kind < 2; ++kind)
      for (int number = 0; number < stages; ++number) {
        copies::init(room.stage(kind, number).full, 1);
        copies::init(room.stage(kind, number).empty, 2 * group);
      }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  // Long rows first when they are not all as long.
  const int tile = causal != 0 ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
  const int first = tile * rows, blocks = causal != 0 ? tile + 1 : length / rows;
  const int number = static_cast<int>(threadIdx.x) / group - 1;
  if (number < 0) {
    warpgroup::keep_registers<24>();
    if (threadIdx.x == 0) bring_all<width>(q, k, v, first, blocks, room);
    return;
  }
  warpgroup::take_registers<240>();
  const size_t at = (static_cast<size_t>(blockIdx.z) * heads + blockIdx.y) * length;
  attend<width>(out, logarithms + at + first + 64 * number, first + 64 * number, blocks,
                causal != 0, scale * log2_e, number, room);
}

}  // namespace

extern "C" __global__ void __launch_bounds__(3 * group, 1)
    flash_hopper_64(const __grid_constant__ copies::TensorMap q,
                    const __grid_constant__ copies::TensorMap k,
                    const __grid_constant__ copies::TensorMap v,
                    const __grid_constant__ copies::TensorMap out, float* __restrict__ logarithms,
                    int heads, int length, int causal, float scale) {
  forward<64>(&q, &k, &v, &out, logarithms, heads, length, causal, scale);
}
extern "C" __global__ void __launch_bounds__(3 * group, 1)
    flash_hopper_128(const __grid_constant__ copies::TensorMap q,
                     const __grid_constant__ copies::TensorMap k,
                     const __grid_constant__ copies::TensorMap v,
                     const __grid_constant__ copies::TensorMap out, float* __restrict__ logarithms,
                     int heads, int length, int causal, float scale) {
  forward<128>(&q, &k, &v, &out, logarithms, heads, length, causal, scale);
}
