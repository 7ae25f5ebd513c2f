// Element-wise sum in place with a grid-stride loop: the usual first example of managed memory.
extern "C" __global__ void managed_add(int n, const float* x, float* y) {
  const int stride = blockDim.x * gridDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) y[i] = x[i] + y[i];
}
