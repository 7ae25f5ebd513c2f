// Compile for: sm_90a
// Product C = A * B^T of tf32 (A is m x k, B is n x k, both of f32) as the kernel "CuTe WGMMA TMA 128x256" of
// ahmadsharif1/cuda_study has it, which was measured on an H100: 512 threads for 128 x 256 of C, each warp group 64 x 128
// of it; 32 of K a step, three stages.  A group waits for the products of a step before it says that it has read the
// stage.  The first thread, of a group that multiplies, waits for all of them and asks for the tiles that come there
// next.  m is a multiple of 128, n of 256, k of 32 and at least 96.
#include "../../../configs/workloads/warpgroup.cuh"

namespace {

constexpr int rows = 128, columns = 256, step = 32, stages = 3, row_bytes = step * 4;
constexpr int a_bytes = rows * row_bytes, stage_bytes = a_bytes + columns * row_bytes;

// d = a * b + d, or a * b: 64 x 128 of f32 from 64 x 8 and 128 x 8 of tf32, both by rows.
__device__ __forceinline__ void multiply(float (&d)[64], unsigned long long a, unsigned long long b,
                                         int accumulates) {
  asm volatile(
      "{\n"
      ".reg .pred adds;\n"
      "setp.ne.b32 adds, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 {" NAMES_OF_64
      "}, %64, %65, adds, 1, 1;\n"
      "}"
      : SUMS_OF_64(d)
      : "l"(a), "l"(b), "r"(accumulates));
}

}  // namespace

extern "C" __global__ void __launch_bounds__(512)
    four_groups(const __grid_constant__ copies::TensorMap a,
                const __grid_constant__ copies::TensorMap b, float* __restrict__ c, int n, int k) {
  extern __shared__ __align__(1024) char memory[];
  __shared__ __align__(8) unsigned long long full[stages], empty[stages];
  const copies::StageBarriers<stages> barriers{copies::shared_address(full),
                                               copies::shared_address(empty)};
  const unsigned tiles = copies::shared_address(memory);
  const int row = blockIdx.x * rows, column = blockIdx.y * columns;
  if (threadIdx.x == 0) barriers.init_all(blockDim.x);
  __syncthreads();
  const auto bring = [&](const copies::Stage<stages>& to, int at) {
    const unsigned ready = barriers.full_of(to), tile = tiles + to.number * stage_bytes;
    copies::expect(ready, stage_bytes);
    copies::load_tile(tile, &a, at, row, ready);
    copies::load_tile(tile + a_bytes, &b, at, column, ready);
  };
  if (threadIdx.x == 0)
    for (copies::Stage<stages> s; s.parity == 0; s.advance()) bring(s, s.number * step);

  const int group = threadIdx.x / 128, down = group % 2 * 64, across = group / 2 * 128;
  float sum[64];
  copies::Stage<stages> stage;
  for (int at = 0; at < k; at += step, stage.advance()) {
    copies::wait(barriers.full_of(stage), stage.parity);
    const unsigned tile = tiles + stage.number * stage_bytes;
    warpgroup::begin();
#pragma unroll
    for (int part = 0; part < step / 8; ++part)
      multiply(sum, warpgroup::descriptor(tile + down * row_bytes + 32 * part),
               warpgroup::descriptor(tile + a_bytes + across * row_bytes + 32 * part), at + part);
    warpgroup::commit();
    warpgroup::wait_for_all_but<0>();
    copies::arrive(barriers.empty_of(stage));
    if (threadIdx.x == 0 && at + stages * step < k) {
      copies::wait(barriers.empty_of(stage), stage.parity);
      bring(stage, at + stages * step);
    }
  }

  const int lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
  c += static_cast<size_t>(row + down + 16 * warp + lane / 4) * n + column + across + lane % 4 * 2;
#pragma unroll
  for (int j = 0; j < 16; ++j)
#pragma unroll
    for (int half = 0; half < 2; ++half)
      *reinterpret_cast<float2*>(c + static_cast<size_t>(8 * half) * n + 8 * j) =
          make_float2(sum[4 * j + 2 * half], sum[4 * j + 2 * half + 1]);
}
