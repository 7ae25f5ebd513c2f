// a = b + scalar * c, one element per thread.
extern "C" __global__ void triad(float* __restrict__ a, const float* __restrict__ b,
                                 const float* __restrict__ c, float scalar, int first, int n) {
  const int i = first + blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = fmaf(scalar, c[i], b[i]);
}
