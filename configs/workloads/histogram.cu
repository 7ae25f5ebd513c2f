// Histogram of 256 bins, privatised per block in shared memory and, for comparison, directly in
// global memory.
constexpr int bins = 256;

extern "C" __global__ void histogram_shared(const unsigned* __restrict__ data,
                                            unsigned* __restrict__ counts, int n) {
  __shared__ unsigned local[bins];
  for (int i = threadIdx.x; i < bins; i += blockDim.x) local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&local[data[i] % bins], 1u);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < bins; i += blockDim.x) {
    if (local[i] != 0) atomicAdd(&counts[i], local[i]);
  }
}

extern "C" __global__ void histogram_global(const unsigned* __restrict__ data,
                                            unsigned* __restrict__ counts, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&counts[data[i] % bins], 1u);
  }
}
