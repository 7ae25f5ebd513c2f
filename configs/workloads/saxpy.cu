// y = factor * x + y, one element per thread and grid-stride step.
extern "C" __global__ void saxpy(const float* __restrict__ x, float* __restrict__ y, float factor,
                                 int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    y[i] = fmaf(factor, x[i], y[i]);
  }
}
