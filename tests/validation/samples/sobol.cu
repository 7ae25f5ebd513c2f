// SobolQRNG of the CUDA samples: direction numbers of a dimension in shared memory, the first vector of a thread by
// Gray code, further ones by two exclusive ors.
extern "C" __global__ void sobol(unsigned vectors, const unsigned* directions, float* out) {
  __shared__ unsigned v[32];
  directions += 32 * blockIdx.y;
  out += vectors * blockIdx.y;
  if (threadIdx.x < 32) v[threadIdx.x] = directions[threadIdx.x];
  __syncthreads();
  const int first = threadIdx.x + blockIdx.x * blockDim.x, stride = gridDim.x * blockDim.x;
  const float scale = 1.0f / 4294967296.0f;
  unsigned gray = first ^ (first >> 1), x = 0;
  for (unsigned k = 0; k < __ffs(stride) - 1; ++k) {
    const unsigned mask = -(gray & 1);
    x ^= mask & v[k];
    gray >>= 1;
  }
  if (first < vectors) out[first] = static_cast<float>(x) * scale;
  const unsigned step = v[__ffs(stride) - 2], mask = stride - 1;
  for (unsigned i = first + stride; i < vectors; i += stride) {
    x ^= step ^ v[__ffs(~((i - stride) | mask)) - 1];
    out[i] = static_cast<float>(x) * scale;
  }
}
