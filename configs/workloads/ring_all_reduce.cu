// Sum of an all-reduce's part that has come from a neighbour, one element per thread and
// grid-stride step.
extern "C" __global__ void add_part(float* __restrict__ sums, const float* __restrict__ arrived,
                                    int first, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    sums[first + i] += arrived[i];
  }
}
