// Products by matrix instructions of warp groups, of f16 and bf16, with f32 sums, on Hopper.  A block computes 128 x 128
// elements: one warp asks for tiles of A and B, 64 of K at a time, four steps ahead, two warp groups multiply.
// nvcc -arch=sm_90a -I ../../../configs/workloads -ptx gemm_wgmma.cu
#include "gemm.cuh"
#include "tensor_copies.cuh"
#include "warpgroup_registers.cuh"

constexpr int side = 128, depth = 64, stages = 4, group = 128, operand_bytes = side * depth * 2, stage_bytes = 2 * operand_bytes;

#define LOCKSTEP_WGMMA(element, name)                                                                                \
  template <bool a_across, bool b_across>                                                                            \
  __device__ inline void wgmma(float (&d)[64], unsigned long long a, unsigned long long b, element) {                \
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32." name "." name " {" NAMES_OF_64                       \
                 "}, %64, %65, 1, 1, 1, %66, %67;"                                                                   \
                 : SUMS_OF_64(d)                                                                                     \
                 : "l"(a), "l"(b), "n"(a_across), "n"(b_across));                                                    \
  }
LOCKSTEP_WGMMA(__half, "f16")
LOCKSTEP_WGMMA(__nv_bfloat16, "bf16")

// A tile of an operand in shared memory, rows of 128 bytes whose pieces are swapped: 128 rows of 64 along K, or, if
// numbers beside each other are across K, twice 64 rows of K with 64 across.
template <bool across>
__device__ inline unsigned long long descriptor(unsigned tile, int first, int along) {
  constexpr unsigned long long swizzle_128 = 1ULL << 62, eight_rows = 1024 / 16, next_64 = depth * 128 / 16;
  const unsigned at = across ? tile + first / 64 * (depth * 128) + along * 128 : tile + first * 128 + along * 2;
  return swizzle_128 | eight_rows << 32 | next_64 << 16 | at >> 4;
}
// `across`: numbers beside each other are across K.
__device__ inline void bring(unsigned to, const copies::TensorMap* map, int first, int k, bool across, unsigned barrier) {
  if (!across) {
    copies::load_tile(to, map, k, first, blockIdx.z, barrier);
    return;
  }
  copies::load_tile(to, map, first, k, blockIdx.z, barrier);
  copies::load_tile(to + operand_bytes / 2, map, first + 64, k, blockIdx.z, barrier);
}

template <class In, bool a_across, bool b_across>
__device__ inline void multiply_all(float (&sum)[64], int number, int k, unsigned tiles, const copies::StageBarriers<stages>& barriers) {
  copies::Stage<stages> stage;
  unsigned before = 0;
#pragma unroll 1
  for (int at = 0; at < k; at += depth, stage.advance()) {
    copies::wait(barriers.full_of(stage), stage.parity);
    const unsigned a = tiles + stage.number * stage_bytes, b = a + operand_bytes;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int step = 0; step < depth; step += 16)
      wgmma<a_across, b_across>(sum, descriptor<a_across>(a, 64 * number, step), descriptor<b_across>(b, 0, step), In(0.0f));
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 1;" ::: "memory");
    if (at > 0) copies::arrive(before);
    before = barriers.empty_of(stage);
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

template <class In, class Out>
__device__ void multiply(const Gemm& g, const copies::TensorMap* a, const copies::TensorMap* b) {
  extern __shared__ __align__(1024) char memory[];
  __shared__ __align__(8) unsigned long long full[stages], empty[stages];
  const copies::StageBarriers<stages> barriers{copies::shared_address(full), copies::shared_address(empty)};
  const unsigned base = copies::shared_address(memory), tiles = (base + 1023) & ~1023u;
  const int first_row = blockIdx.x * side, first_column = blockIdx.y * side;
  const bool a_across = g.a_turned == 0, b_across = g.b_turned != 0;
  if (threadIdx.x == 0) barriers.init_all(2 * group);
  __syncthreads();
  const int number = (int)threadIdx.x / group;
  if (number == 2) {
    if (threadIdx.x != 2 * group) return;
    copies::Stage<stages> stage;
    for (int k = 0; k < g.k; k += depth, stage.advance()) {
      copies::wait(barriers.empty_of(stage), stage.parity ^ 1);
      const unsigned at = tiles + stage.number * stage_bytes, barrier = barriers.full_of(stage);
      copies::expect(barrier, stage_bytes);
      bring(at, a, first_row, k, a_across, barrier);
      bring(at + operand_bytes, b, first_column, k, b_across, barrier);
    }
    return;
  }
  float sum[64];
#pragma unroll
  for (int i = 0; i < 64; ++i) sum[i] = 0;
  if (a_across && b_across) multiply_all<In, true, true>(sum, number, g.k, tiles, barriers);
  else if (a_across) multiply_all<In, true, false>(sum, number, g.k, tiles, barriers);
  else if (b_across) multiply_all<In, false, true>(sum, number, g.k, tiles, barriers);
  else multiply_all<In, false, false>(sum, number, g.k, tiles, barriers);
  // Both groups are through with all stages: sums stand there now, 64 x 64 of a group at a time.
  asm volatile("bar.sync 1, 256;" ::: "memory");
  Sums& sums = *(Sums*)(memory + (tiles - base) + number * stage_bytes);
  const int thread = threadIdx.x % group, row = thread / 32 * 16 + thread % 32 / 4, column = thread % 4 * 2;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
#pragma unroll
    for (int i = 0; i < 32; ++i) sums[i / 4 * 8 + column + i % 2][row + i / 2 % 2 * 8] = sum[32 * half + i];
    asm volatile("bar.sync %0, 128;" ::"r"(2 + number) : "memory");
    write<Out, group>(g, first_row + 64 * number, first_column + 64 * half, sums, thread);
    asm volatile("bar.sync %0, 128;" ::"r"(2 + number) : "memory");
  }
}

#define LOCKSTEP_GEMM(name, In, Out)                                                                                  \
  extern "C" __global__ void __launch_bounds__(2 * group + 32)                                                       \
      name(const __grid_constant__ Gemm g, const __grid_constant__ copies::TensorMap a, const __grid_constant__ copies::TensorMap b) { \
    multiply<In, Out>(g, &a, &b);                                                                                     \
  }
LOCKSTEP_GEMM(gemm_wgmma_f16_f32, __half, float)
LOCKSTEP_GEMM(gemm_wgmma_f16_f16, __half, __half)
LOCKSTEP_GEMM(gemm_wgmma_bf16_f32, __nv_bfloat16, float)
LOCKSTEP_GEMM(gemm_wgmma_bf16_bf16, __nv_bfloat16, __nv_bfloat16)
