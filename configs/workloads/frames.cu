// Frames that compute: as bandwidth_copy and bandwidth_read, with `work` multiply-adds for each
// float that is loaded.
__device__ float4 worked(float4 v, int work) {
  for (int k = 0; k < work; ++k) {
    v.x = fmaf(v.x, 0.5f, 1.0f);
    v.y = fmaf(v.y, 0.5f, 2.0f);
    v.z = fmaf(v.z, 0.5f, 3.0f);
    v.w = fmaf(v.w, 0.5f, 4.0f);
  }
  return v;
}

extern "C" __global__ void frames_copy(const float4* __restrict__ in, float4* __restrict__ out,
                                       int n, int work) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    out[i] = worked(in[i], work);
  }
}

extern "C" __global__ void frames_read(const float4* __restrict__ in, unsigned* __restrict__ digest,
                                       int n, int work) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned bits = 0;
  for (int i = thread; i < n; i += gridDim.x * blockDim.x) {
    const float4 v = worked(in[i], work);
    bits ^= (__float_as_uint(v.x) ^ __float_as_uint(v.y)) ^
            (__float_as_uint(v.z) ^ __float_as_uint(v.w));
  }
  digest[thread] = bits;
}
