// Sums over rows or columns of a matrix: gradients of a bias.  nvcc -arch=sm_75 -ptx bias_gradient.cu
#include "gemm.cuh"

struct BiasGradient {
  const void* from;
  void* to;
  long long across, along, from_stride, to_stride;  // elements from one sum, one addend, one matrix to the next
  int sums, addends, from_kind, to_kind;
};

// A block computes 32 sums.  Lanes stand beside each other in memory.
extern "C" __global__ void __launch_bounds__(256) bias_gradient(const __grid_constant__ BiasGradient g) {
  __shared__ float parts[8][32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, first = blockIdx.x * 32;
  const long long matrix = blockIdx.y * g.from_stride;
  const auto at = [&](int sum, int addend) { return number_at(g.from, matrix + sum * g.across + addend * g.along, g.from_kind); };
  if (g.across == 1) {
    float part = 0.0f;
    if (first + lane < g.sums)
      for (int i = warp; i < g.addends; i += 8) part += at(first + lane, i);
    parts[warp][lane] = part;
    __syncthreads();
    if (warp == 0)
      for (int i = 1; i < 8; ++i) part += parts[i][lane];
    if (warp == 0) parts[0][lane] = part;
  } else {
    for (int sum = warp; sum < 32; sum += 8) {
      float part = 0.0f;
      if (first + sum < g.sums)
        for (int i = lane; i < g.addends; i += 32) part += at(first + sum, i);
      for (int distance = 16; distance; distance /= 2) part += __shfl_xor_sync(~0u, part, distance);
      if (lane == 0) parts[0][sum] = part;
    }
  }
  __syncthreads();
  if (warp == 0 && first + lane < g.sums) put_at(g.to, blockIdx.y * g.to_stride + first + lane, g.to_kind, parts[0][lane]);
}
