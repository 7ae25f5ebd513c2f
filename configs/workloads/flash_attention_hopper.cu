// Compile for: sm_90a
// Attention, forward, of B sequences of S queries and keys with H heads of 64 or 128 halves, as
// FlashAttention-3 computes it (Shah et al., 2024); all of [B][S][H][width], S a multiple of 128.
// Blocks stay: each takes 128 queries of a head, and when it is through with them, others; if all
// rows are as long, every so many-th, else the next one that nobody has: long rows first, among as
// many heads as have their keys and values in L2 together.  One thread
// of its first warp group asks for tiles of queries, of 128 keys and of as many values, two ahead, the
// last keys first; two warp groups have 64 queries each, and take the registers that the first one
// gives back.  The next queries come while the last ones are stored.  A group asks for the scores of the next keys
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

// A warp tells a barrier that all of its lanes have read.
__device__ __forceinline__ void give_back(unsigned barrier) {
  asm volatile(
      "{\n"
      ".reg .pred first;\n"
      ".reg .b32 lane;\n"
      "mov.u32 lane, %%laneid;\n"
      "setp.eq.u32 first, lane, 0;\n"
      "@first mbarrier.arrive.shared::cta.b64 _, [%0];\n"
      "}" ::"r"(barrier)
      : "memory");
}

// What blocks do: tiles of queries, by number.
struct Work {
  int heads, length, count, together;  // heads of which L2 has keys and values at once
  bool causal;
  unsigned* taken;  // how many tiles have been taken that blocks do not begin with

  struct Tile {
    int first, blocks, head, sequence;  // its first query, tiles of keys
  };
  // If rows are not all as long, long ones first, of some heads after the other.
  __device__ __forceinline__ Tile tile(int number) const {
    const int across = length / rows;
    if (!causal)
      return {number % across * rows, across, number / across % heads, number / across / heads};
    const int before = number / (together * across) * together;
    const int these = min(together, count / across - before), at = number - before * across;
    const int from_top = across - 1 - at / these, head = before + at % these;
    return {from_top * rows, from_top + 1, head % heads, head / heads};
  }
  __device__ __forceinline__ int after(int number) const {
    const int blocks = static_cast<int>(gridDim.x);
    return causal ? blocks + static_cast<int>(atomicAdd(taken, 1u)) : number + blocks;
  }
};

// Where tiles stand: queries, results, two stages of keys, two of values; and the barriers that say
// that a tile is there, and that it has been read.
template <int width>
struct Room {
  static constexpr int tile = width / 64 * half_tile;
  unsigned memory, barriers, numbers;
  struct Stage {
    unsigned tile, full, empty, parity;
  };
  __device__ __forceinline__ Stage stage(unsigned at, int barrier, int number, int count) const {
    return {at, barriers + 16 * barrier, barriers + 16 * barrier + 8,
            static_cast<unsigned>(number / count & 1)};
  }
  __device__ __forceinline__ unsigned results() const { return memory; }
  __device__ __forceinline__ Stage queries(int number) const {
    return stage(memory + tile, 0, number, 1);
  }
  __device__ __forceinline__ Stage keys(int number) const {
    const int s = number % stages;
    return stage(memory + (2 + s) * tile, 1 + s, number, stages);
  }
  __device__ __forceinline__ Stage values(int number) const {
    const int s = stages + number % stages;
    return stage(memory + (2 + s) * tile, 1 + s, number, stages);
  }
  // The number of a tile of queries.
  __device__ __forceinline__ Stage order(int number) const {
    const int s = number % stages;
    return stage(numbers + 4 * s, 1 + 2 * stages + s, number, stages);
  }
  static constexpr int barrier_count = 2 * (1 + 3 * stages);
};

// A tile of 128 rows from row `y` of a sequence on.
template <int width>
__device__ __forceinline__ void bring(const typename Room<width>::Stage& to,
                                      const copies::TensorMap* map, const Work::Tile& tile, int y) {
  copies::wait(to.empty, to.parity ^ 1);
  copies::expect(to.full, Room<width>::tile);
#pragma unroll
  for (int part = 0; part < width / 64; ++part)
    copies::load_tile(to.tile + part * half_tile, map, tile.head * width + 64 * part, y,
                      tile.sequence, to.full);
}
template <int width>
__device__ __forceinline__ void bring_queries(const typename Room<width>::Stage& to,
                                              const copies::TensorMap* q, const Work::Tile& tile) {
  copies::wait(to.empty, to.parity ^ 1);
  copies::expect(to.full, Room<width>::tile);
#pragma unroll
  for (int part = 0; part < width / 64; ++part)
#pragma unroll
    for (int half = 0; half < 2; ++half)
      copies::load_tile(to.tile + part * half_tile + half * half_tile / 2, q,
                        tile.head * width + 64 * part, tile.first + 64 * half, tile.sequence,
                        to.full);
}
template <int width>
__device__ __forceinline__ void bring_all(const copies::TensorMap* q, const copies::TensorMap* k,
                                          const copies::TensorMap* v, const Work& work,
                                          const Room<width>& room) {
  int number = static_cast<int>(blockIdx.x), block = 0;
  for (int turn = 0;; ++turn) {
    const auto order = room.order(turn);
    copies::wait(order.empty, order.parity ^ 1);
    asm volatile("st.shared.b32 [%0], %1;" ::"r"(order.tile), "r"(number) : "memory");
    copies::arrive(order.full);
    if (number >= work.count) return;
    const Work::Tile tile = work.tile(number);
    number = work.after(number);
    bring<width>(room.keys(block), k, tile, (tile.blocks - 1) * rows);
    bring_queries<width>(room.queries(turn), q, tile);
    for (int left = tile.blocks - 1; left > 0; --left, ++block) {
      bring<width>(room.keys(block + 1), k, tile, (left - 1) * rows);
      bring<width>(room.values(block), v, tile, left * rows);
    }
    bring<width>(room.values(block++), v, tile, 0);
  }
}

// Number of the thread in its warp group, asked for anew each time: what follows from it would take
// registers from tile to tile.
__device__ __forceinline__ int thread_of_group() {
  int thread;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
  return thread % group;
}

// score = queries * keys^T, asked for.
template <int width>
__device__ __forceinline__ void ask_for_scores(float (&score)[64], unsigned queries,
                                               unsigned keys) {
  asm volatile("mov.b32 %0, %0;" : "+r"(queries));  // descriptors are made anew each time
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

  // The largest score of each row; `shrink`: what all before these scores are worth now.  Rows and
  // pairs of columns take turns, so that no instruction waits for the one before it.
  __device__ __forceinline__ void look_at(const float (&score)[64], float scale_2,
                                          float (&shrink)[2]) {
    float now[2][2];
#pragma unroll
    for (int i = 0; i < 4; ++i) now[i / 2][i % 2] = fmaxf(largest[i / 2], score[i]);
#pragma unroll
    for (int i = 4; i < 64; ++i) now[i / 2 % 2][i % 2] = fmaxf(now[i / 2 % 2][i % 2], score[i]);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float row = largest_of_row(fmaxf(now[half][0], now[half][1]));
      shrink[half] = exp2_of(fmaf(largest[half], scale_2, -row * scale_2));
      largest[half] = row;
    }
  }
  // Scores become exponentials.
  __device__ __forceinline__ void take(float (&score)[64], float scale_2, const float (&shrink)[2]) {
    const float top[2] = {largest[0] * scale_2, largest[1] * scale_2};
    float sum[2][2];
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
  // The same, and pairs of them become halves at once: all else runs in the shade of exponentials.
  __device__ __forceinline__ void take_halves(const float (&score)[64], unsigned (&share)[8][4],
                                              float scale_2, const float (&shrink)[2]) {
    const float top[2] = {largest[0] * scale_2, largest[1] * scale_2};
    float sum[2][2] = {{total[0] * shrink[0], 0}, {total[1] * shrink[1], 0}};
#pragma unroll
    for (int pair = 0; pair < 32; ++pair) {
      const float low = exp2_of(fmaf(score[2 * pair], scale_2, -top[pair % 2]));
      const float high = exp2_of(fmaf(score[2 * pair + 1], scale_2, -top[pair % 2]));
      sum[pair % 2][0] += low;
      sum[pair % 2][1] += high;
      share[pair / 4][pair % 4] = halves(low, high);
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) total[half] = sum[half][0] + sum[half][1];
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
  const int column = thread_of_group() % 4 * 2;
#pragma unroll
  for (int i = 0; i < 64; ++i)
    if (i / 4 * 8 + column + i % 2 > row + i / 2 % 2 * 8) score[i] = -1e30f;
}

// A warp group's rows go to its part of the results' tile when what stood there has been read, and
// from there to memory.
template <int width>
__device__ __forceinline__ void store(const float (&output)[width / 2], unsigned tile, int number,
                                      const copies::TensorMap* out, const Work::Tile& of) {
  const int thread = thread_of_group(), lane = thread % 32, row = thread / 32 * 16 + lane % 16;
  if (thread == 0) copies::wait_until_stores_are_read();
  meet(3 + number, group);
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
  if (thread != 0) return;
#pragma unroll
  for (int part = 0; part < width / 64; ++part)
    copies::store_tile(out, of.head * width + 64 * part, of.first + 64 * number, of.sequence,
                       tile + part * half_tile);
  copies::commit_stores();
}

// The queries of a tile; `turn`: how many the block has had, `block`: so of tiles of keys.
template <int width>
__device__ __forceinline__ void attend(const copies::TensorMap* out, float* logarithms,
                                       const Work::Tile& tile, bool causal, float scale_2,
                                       int number, int turn, int block, const Room<width>& room) {
  const auto all_queries = room.queries(turn);
  const unsigned queries = all_queries.tile + number * half_tile / 2;
  const int thread = thread_of_group(), row = thread / 32 * 16 + thread % 32 / 4;
  float score[64], output[width / 2], shrink[2];
  unsigned share[8][4];
  Rows of;
#pragma unroll
  for (int i = 0; i < width / 2; ++i) output[i] = 0;
#pragma unroll
  for (int i = 0; i < 64; ++i) score[i] = 0;

  auto keys = room.keys(block);
  copies::wait(all_queries.full, all_queries.parity);
  copies::wait(keys.full, keys.parity);
  ask_for_scores<width>(score, queries, keys.tile);
  warpgroup::wait_for_all_but<0>();
  give_back(keys.empty);
  if (causal) mask(score, 64 * number + row);
  of.look_at(score, scale_2, shrink);
  of.take(score, scale_2, shrink);
  make_left(share, score);
#pragma unroll 1
  for (const int last = block + tile.blocks - 1; block < last; ++block) {
    keys = room.keys(block + 1);
    const auto values = room.values(block);
    copies::wait(keys.full, keys.parity);
    meet(1 + number, 2 * group);
    ask_for_scores<width>(score, queries, keys.tile);
    copies::wait(values.full, values.parity);
    ask_for_sums(output, share, values.tile);
    come(2 - number, 2 * group);
    warpgroup::wait_for_all_but<1>();
    give_back(keys.empty);
    of.look_at(score, scale_2, shrink);
    if constexpr (width == 128) of.take(score, scale_2, shrink);
    warpgroup::wait_for_all_but<0>();
    give_back(values.empty);
    if constexpr (width == 128) {
      make_left(share, score);
      multiply_rows(output, shrink);
    } else {  // products of values are short beside the exponentials
      multiply_rows(output, shrink);
      of.take_halves(score, share, scale_2, shrink);
    }
  }
  give_back(all_queries.empty);
  const auto values = room.values(block);
  copies::wait(values.full, values.parity);
  ask_for_sums(output, share, values.tile);
  float part[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float sum = sum_of_row(of.total[half]);
    part[half] = 1.0f / sum;
    if (thread % 4 == 0)
      logarithms[64 * number + row + 8 * half] = fmaf(of.largest[half], scale_2, __log2f(sum));
  }
  warpgroup::wait_for_all_but<0>();
  give_back(values.empty);
  multiply_rows(output, part);
  store<width>(output, room.results() + number * half_tile / 2, number, out, tile);
}

template <int width>
__device__ __forceinline__ void attend_to_all(const copies::TensorMap* out, float* logarithms,
                                              const Work& work, float scale_2, int number,
                                              const Room<width>& room) {
  if (number == 1) come(1, 2 * group);  // the first group is the first to ask
  for (int turn = 0, block = 0;; ++turn) {
    const auto order = room.order(turn);
    copies::wait(order.full, order.parity);
    int at;
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(at) : "r"(order.tile) : "memory");
    __syncwarp();
    give_back(order.empty);
    if (at >= work.count) break;
    const Work::Tile tile = work.tile(at);
    const size_t of_head = static_cast<size_t>(tile.sequence) * work.heads + tile.head;
    attend<width>(out, logarithms + of_head * work.length + tile.first, tile, work.causal, scale_2,
                  number, turn, block, room);
    block += tile.blocks;
  }
  if (number == 0) meet(1, 2 * group);
  if (threadIdx.x % group == 0) copies::finish_stores();
}

template <int width>
__device__ __forceinline__ void forward(const copies::TensorMap* q, const copies::TensorMap* k,
                                        const copies::TensorMap* v, const copies::TensorMap* out,
                                        float* logarithms, unsigned* taken, int heads, int length,
                                        int batch, int causal, float scale) {
  extern __shared__ __align__(1024) char memory[];
  __shared__ __align__(8) unsigned long long barriers[Room<width>::barrier_count];
  __shared__ int numbers[stages];
  const Room<width> room{(copies::shared_address(memory) + 1023) & ~1023u,
                         copies::shared_address(barriers), copies::shared_address(numbers)};
  constexpr int in_l2 = 32 << 20;
  const int together = max(1, in_l2 / (length * width * 2 * static_cast<int>(sizeof(__half))));
  const Work work{heads, length, length / rows * heads * batch, together, causal != 0, taken};
  if (threadIdx.x == 0) {
    for (int barrier = 0; barrier < Room<width>::barrier_count; ++barrier)
      copies::init(room.barriers + 8 * barrier, barrier % 2 == 0 ? 1 : 2 * group / 32);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  const int number = static_cast<int>(threadIdx.x) / group - 1;
  if (number < 0) {
    warpgroup::keep_registers<24>();
    if (threadIdx.x == 0) bring_all<width>(q, k, v, work, room);
    return;
  }
  warpgroup::take_registers<240>();
  attend_to_all<width>(out, logarithms, work, scale * log2_e, number, room);
}

}  // namespace

extern "C" __global__ void __launch_bounds__(3 * group, 1)
    flash_hopper_64(const __grid_constant__ copies::TensorMap q,
                    const __grid_constant__ copies::TensorMap k,
                    const __grid_constant__ copies::TensorMap v,
                    const __grid_constant__ copies::TensorMap out, float* __restrict__ logarithms,
                    unsigned* __restrict__ taken, int heads, int length, int batch, int causal,
                    float scale) {
  forward<64>(&q, &k, &v, &out, logarithms, taken, heads, length, batch, causal, scale);
}
extern "C" __global__ void __launch_bounds__(3 * group, 1)
    flash_hopper_128(const __grid_constant__ copies::TensorMap q,
                     const __grid_constant__ copies::TensorMap k,
                     const __grid_constant__ copies::TensorMap v,
                     const __grid_constant__ copies::TensorMap out, float* __restrict__ logarithms,
                     unsigned* __restrict__ taken, int heads, int length, int batch, int causal,
                     float scale) {
  forward<128>(&q, &k, &v, &out, logarithms, taken, heads, length, batch, causal, scale);
}
