// Streaming bandwidth: copy, write and read with 16-byte accesses in a grid-stride loop.
extern "C" __global__ void bandwidth_copy(const float4* __restrict__ in, float4* __restrict__ out,
                                          int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    out[i] = in[i];
  }
}

extern "C" __global__ void bandwidth_write(uint4* __restrict__ out, unsigned value, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    out[i] = make_uint4(value, value, value, value);
  }
}

// Writes one word per thread, so that the reads have a use.
extern "C" __global__ void bandwidth_read(const uint4* __restrict__ in,
                                          unsigned* __restrict__ digest, int n) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned bits = 0;
  for (int i = thread; i < n; i += gridDim.x * blockDim.x) {
    const uint4 v = in[i];
    bits ^= (v.x ^ v.y) ^ (v.z ^ v.w);
  }
  digest[thread] = bits;
}
