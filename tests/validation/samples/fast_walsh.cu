// fastWalshTransform of the CUDA samples, the batch in shared memory: 2048 elements by 512 threads, butterflies of
// radix 4 and, since the logarithm is odd, a last stage of radix 2.
extern __shared__ float piece[];

extern "C" __global__ void batch1(float* out, const float* in, int log2_n) {
  const int n = 1 << log2_n, base = blockIdx.x << log2_n;
  in += base;
  out += base;
  for (int i = threadIdx.x; i < n; i += blockDim.x) piece[i] = in[i];
  const int at = threadIdx.x;
  for (int stride = n >> 2; stride > 0; stride >>= 2) {
    const int low = at & (stride - 1);
    const int i0 = ((at - low) << 2) + low, i1 = i0 + stride, i2 = i1 + stride, i3 = i2 + stride;
    __syncthreads();
    const float a = piece[i0], b = piece[i1], c = piece[i2], d = piece[i3];
    const float upper_a = a + c, lower_a = a - c, upper_b = b + d, lower_b = b - d;
    piece[i0] = upper_a + upper_b;
    piece[i1] = upper_a - upper_b;
    piece[i2] = lower_a + lower_b;
    piece[i3] = lower_a - lower_b;
  }
  if ((log2_n & 1) != 0) {
    __syncthreads();
    for (int i = threadIdx.x; i < n / 2; i += blockDim.x) {
      const float a = piece[2 * i], b = piece[2 * i + 1];
      piece[2 * i] = a + b;
      piece[2 * i + 1] = a - b;
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = piece[i];
}

// The stages before: butterflies of radix 4 between elements `stride` apart, in global memory.
extern "C" __global__ void batch2(float* out, const float* in, int stride) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x, n = blockDim.x * gridDim.x * 4;
  in += blockIdx.y * n;
  out += blockIdx.y * n;
  const int low = at & (stride - 1);
  const int i0 = ((at - low) << 2) + low, i1 = i0 + stride, i2 = i1 + stride, i3 = i2 + stride;
  const float a = in[i0], b = in[i1], c = in[i2], d = in[i3];
  const float upper_a = a + c, lower_a = a - c, upper_b = b + d, lower_b = b - d;
  out[i0] = upper_a + upper_b;
  out[i1] = upper_a - upper_b;
  out[i2] = lower_a + lower_b;
  out[i3] = lower_a - lower_b;
}
