// Loads, stores and atomics of one GPU in the memory of another one.
extern "C" __global__ void gather(const float* __restrict__ there, const int* __restrict__ index,
                                  float* __restrict__ here, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    here[i] = there[index[i]];
  }
}

extern "C" __global__ void scatter(const float* __restrict__ here, const int* __restrict__ index,
                                   float* __restrict__ there, unsigned* __restrict__ counts,
                                   int bins, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    there[index[i]] = 2 * here[i];
    atomicAdd(&counts[index[i] % bins], 1u);
  }
}
