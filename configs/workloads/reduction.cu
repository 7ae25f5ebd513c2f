// Sum and maximum of an array: a grid-stride loop, then a tree of warp shuffles, then shared memory
// between the warps of a block.
constexpr unsigned full = 0xffffffffu;

// One partial sum per block; launched a second time with one block it sums the partial sums.
// The order of additions depends only on the launch, so the result is exact.
extern "C" __global__ void reduce_sum(const float* __restrict__ in, float* __restrict__ out,
                                      int n) {
  __shared__ float of_warp[32];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    sum += in[i];
  }
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    sum += __shfl_down_sync(full, sum, distance);
  }
  if (lane == 0) of_warp[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    sum = lane < blockDim.x / 32 ? of_warp[lane] : 0.0f;
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
      sum += __shfl_down_sync(full, sum, distance);
    }
    if (lane == 0) out[blockIdx.x] = sum;
  }
}

extern "C" __global__ void reduce_max(const int* __restrict__ in, int* __restrict__ out, int n) {
  int largest = -2147483647 - 1;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    largest = max(largest, in[i]);
  }
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) {
    largest = max(largest, __shfl_xor_sync(full, largest, mask));
  }
  if (threadIdx.x % 32 == 0) atomicMax(out, largest);
}
