// Compile for: sm_90a
// Product C = A * B^T of f16 (A is m x k, B is n x k) as a kernel of Triton has it that FlashGPU-Sim measured on an H200:
// 128 threads for 128 x 128 of C, 64 of K a step, two stages.  A step asks for its tiles when the products of the step
// before are complete, and waits for them: copies and products of a block take turns, and other blocks of the SM fill the
// gaps.  Two blocks that follow each other have 256 rows of C.  m is a multiple of 256, n of 128, k of 64.
#include "../../../configs/workloads/warpgroup.cuh"

namespace {

constexpr int side = 128, step = 64, stages = 2, row_bytes = step * 2, tile = side * row_bytes;

__device__ __forceinline__ void store(const float (&sum)[64], __half* c, int n) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  c += static_cast<size_t>(16 * warp + lane / 4) * n + lane % 4 * 2;
#pragma unroll
  for (int j = 0; j < side / 8; ++j)
#pragma unroll
    for (int half = 0; half < 2; ++half)
      *reinterpret_cast<__half2*>(c + static_cast<size_t>(8 * half) * n + 8 * j) =
          __floats2half2_rn(sum[4 * j + 2 * half], sum[4 * j + 2 * half + 1]);
}

}  // namespace

extern "C" __global__ void __launch_bounds__(128)
    in_turn(const __grid_constant__ copies::TensorMap a, const __grid_constant__ copies::TensorMap b,
            __half* __restrict__ c, int m, int n, int k) {
  extern __shared__ __align__(1024) char memory[];
  __shared__ __align__(8) unsigned long long barriers[stages];
  const unsigned tiles = copies::shared_address(memory), full = copies::shared_address(barriers);
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) copies::init(full + 8 * s, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  const int pair = blockIdx.x / 2, down = m / (2 * side);
  const int row = (pair % down * 2 + blockIdx.x % 2) * side, column = pair / down * side;
  float upper[64], lower[64];
  copies::Stage<stages> stage;
  for (int at = 0; at < k; at += step, stage.advance()) {
    warpgroup::wait_for_all_but<0>();
    __syncthreads();
    const unsigned ready = full + 8 * stage.number, from = tiles + stage.number * 2 * tile;
    if (threadIdx.x == 0) {
      copies::expect(ready, 2 * tile);
      copies::load_tile(from, &a, at, row, ready);
      copies::load_tile(from + tile, &b, at, column, ready);
    }
    copies::wait(ready, stage.parity);
    warpgroup::begin();
#pragma unroll
    for (int part = 0; part < step / 16; ++part) {
      const auto columns = warpgroup::descriptor(from + tile + 32 * part);
      warpgroup::multiply(upper, warpgroup::descriptor(from + 32 * part), columns, at + part);
      warpgroup::multiply(lower, warpgroup::descriptor(from + tile / 2 + 32 * part), columns,
                          at + part);
    }
    warpgroup::commit();
  }
  warpgroup::wait_for_all_but<0>();
  c += static_cast<size_t>(row) * n + column;
  store(upper, c, n);
  store(lower, c + static_cast<size_t>(side / 2) * n, n);
}
