// Compile for: sm_90a
// Matrix product C = A * B^T by copies of tensor tiles and products of warp groups; A is m x k, B
// is n x k, C is m x n, all of f16 or of tf32 by rows.  A block computes 128 x 256 of C at a time,
// and as many tiles as come its way.  One thread of its first warp group asks for tiles of A and B,
// 128 bytes of K at a time, four steps ahead; two warp groups multiply, each 64 x 256, and take the
// registers that the first one gives back.  m is a multiple of 128, n of 256, k of 64 or 32.  Sums
// of f32 are rounded to f16 when such are stored.
// Clusters of two blocks have tiles one below the other, which take the same part of B: each block
// asks for half of it, for both.  m is a multiple of 256 then.
#include "cluster_ranks.cuh"
#include "warpgroup.cuh"

namespace {

constexpr int rows = 128, columns = 256, row_bytes = 128, stages = 4, group = 128;
constexpr int a_bytes = rows * row_bytes, stage_bytes = a_bytes + columns * row_bytes;

// A product of 32 bytes of K, and how two neighbours of it are stored.
struct F16 {
  using Element = __half;
  __device__ static __forceinline__ void multiply(float (&sum)[128], unsigned long long a,
                                                  unsigned long long b, int accumulates) {
    warpgroup::multiply(sum, a, b, accumulates);
  }
  __device__ static __forceinline__ void store(__half* c, float first, float second) {
    *reinterpret_cast<__half2*>(c) = __floats2half2_rn(first, second);
  }
};
struct Tf32 {
  using Element = float;
  __device__ static __forceinline__ void multiply(float (&sum)[128], unsigned long long a,
                                                  unsigned long long b, int accumulates) {
    warpgroup::multiply_tf32(sum, a, b, accumulates);
  }
  __device__ static __forceinline__ void store(float* c, float first, float second) {
    *reinterpret_cast<float2*>(c) = make_float2(first, second);
  }
};
template <class Kind>
constexpr int step = row_bytes / sizeof(typename Kind::Element);

// Stages in the order in which they are filled, over all tiles of the block.
using Stage = copies::Stage<stages>;
struct Tiles : copies::StageBarriers<stages> {
  unsigned memory;
  __device__ __forceinline__ unsigned a(const Stage& s) const {
    return memory + s.number * stage_bytes;
  }
  __device__ __forceinline__ unsigned b(const Stage& s) const { return a(s) + a_bytes; }
};

// A cluster's blocks have the tiles of a column that stand below each other.
template <int ranks>
__device__ __forceinline__ int row_of(int tile, int across) {
  if constexpr (ranks == 1) return tile / across * rows;
  return (tile / across * ranks + static_cast<int>(cluster::rank())) * rows;
}

// A stage is free at first: a wait for the phase before the first one is over at once.
template <int step, int ranks>
__device__ __forceinline__ void bring(const copies::TensorMap* a, const copies::TensorMap* b,
                                      int across, int count, int k, const Tiles& tiles) {
  Stage stage;
  for (int tile = blockIdx.x / ranks; tile < count; tile += gridDim.x / ranks)
    for (int at = 0; at < k; at += step, stage.advance()) {
      copies::wait(tiles.empty_of(stage), stage.parity ^ 1);
      const unsigned full = tiles.full_of(stage);
      copies::expect(full, stage_bytes);
      copies::load_tile(tiles.a(stage), a, at, row_of<ranks>(tile, across), full);
      const int column = tile % across * columns;
      if constexpr (ranks == 1) {
        copies::load_tile(tiles.b(stage), b, at, column, full);
      } else {
        constexpr int part = columns / ranks;
        const int mine = static_cast<int>(cluster::rank()) * part;
        cluster::load_tile(tiles.b(stage) + mine * row_bytes, b, at, column + mine, full,
                           (1u << ranks) - 1);
      }
    }
}

// Parts of a stage come from all blocks of the cluster, which wait for its readers in all of them: a
// thread of each warp group tells one block.
template <int ranks>
__device__ __forceinline__ void give_back(unsigned empty) {
  if constexpr (ranks == 1)
    copies::arrive(empty);
  else if (threadIdx.x % group < ranks)
    cluster::arrive_at(empty, threadIdx.x % group);
}

// The stage is given back when the products that read it are complete, a step later.
template <class Kind, int ranks>
__device__ __forceinline__ void multiply(float (&sum)[128], int number, int k, Stage& stage,
                                         const Tiles& tiles) {
  unsigned before = 0;
  for (int at = 0; at < k; at += step<Kind>, stage.advance()) {
    copies::wait(tiles.full_of(stage), stage.parity);
    const unsigned a = tiles.a(stage) + number * 64 * row_bytes, b = tiles.b(stage);
    warpgroup::begin();
#pragma unroll
    for (int part = 0; part < row_bytes / 32; ++part)
      Kind::multiply(sum, warpgroup::descriptor(a + 32 * part),
                     warpgroup::descriptor(b + 32 * part), at + part);
    warpgroup::commit();
    warpgroup::wait_for_all_but<1>();
    if (at > 0) give_back<ranks>(before);
    before = tiles.empty_of(stage);
  }
  warpgroup::wait_for_all_but<0>();
  give_back<ranks>(before);
}

template <class Kind>
__device__ __forceinline__ void store(const float (&sum)[128], typename Kind::Element* c, int n) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x % group / 32;
  c += static_cast<size_t>(16 * warp + lane / 4) * n + lane % 4 * 2;
#pragma unroll
  for (int j = 0; j < columns / 8; ++j)
#pragma unroll
    for (int half = 0; half < 2; ++half)
      Kind::store(c + static_cast<size_t>(8 * half) * n + 8 * j, sum[4 * j + 2 * half],
                  sum[4 * j + 2 * half + 1]);
}

template <class Kind, int ranks = 1>
__device__ __forceinline__ void product(const copies::TensorMap* a, const copies::TensorMap* b,
                                        typename Kind::Element* c, int m, int n, int k) {
  extern __shared__ __align__(1024) char memory[];
  __shared__ __align__(8) unsigned long long full[stages], empty[stages];
  Tiles tiles{{copies::shared_address(full), copies::shared_address(empty)},
              (copies::shared_address(memory) + 1023) & ~1023u};
  if (threadIdx.x == 0) tiles.init_all(ranks == 1 ? 2 * group : 2 * ranks);
  if constexpr (ranks == 1)
    __syncthreads();
  else
    cluster::meet();
  const int across = n / columns, count = m / rows / ranks * across;
  const int number = static_cast<int>(threadIdx.x) / group - 1;
  if (number < 0) {
    warpgroup::keep_registers<40>();
    if (threadIdx.x == 0) bring<step<Kind>, ranks>(a, b, across, count, k, tiles);
  } else {
    warpgroup::take_registers<232>();
    Stage stage;
    for (int tile = blockIdx.x / ranks; tile < count; tile += gridDim.x / ranks) {
      float sum[128];
      multiply<Kind, ranks>(sum, number, k, stage, tiles);
      const int row = row_of<ranks>(tile, across) + 64 * number;
      store<Kind>(sum, c + static_cast<size_t>(row) * n + tile % across * columns, n);
    }
  }
  if constexpr (ranks > 1) cluster::meet();  // nobody ends while the other one sends it something
}

}  // namespace

extern "C" __global__ void __launch_bounds__(3 * group, 1)
    gemm_tma_wgmma(const __grid_constant__ copies::TensorMap a,
                   const __grid_constant__ copies::TensorMap b, __half* __restrict__ c, int m,
                   int n, int k) {
  product<F16>(&a, &b, c, m, n, k);
}
extern "C" __global__ void __launch_bounds__(3 * group, 1)
    gemm_tma_wgmma_tf32(const __grid_constant__ copies::TensorMap a,
                        const __grid_constant__ copies::TensorMap b, float* __restrict__ c, int m,
                        int n, int k) {
  product<Tf32>(&a, &b, c, m, n, k);
}
extern "C" __global__ void __launch_bounds__(3 * group, 1)
    gemm_tma_wgmma_pairs(const __grid_constant__ copies::TensorMap a,
                         const __grid_constant__ copies::TensorMap b, __half* __restrict__ c, int m,
                         int n, int k) {
  product<F16, 2>(&a, &b, c, m, n, k);
}
