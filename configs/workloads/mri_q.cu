// Non-Cartesian magnetic resonance imaging, matrix Q: for every voxel the sum over k-space samples
// of a magnitude times cosine and sine of a phase. Compute bound; the phase fits the fast sine.
constexpr int chunk = 64;

extern "C" __global__ void mri_q_magnitude(const float* __restrict__ real,
                                           const float* __restrict__ imaginary, float4* sample,
                                           int samples) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < samples) sample[k].w = fmaf(real[k], real[k], imaginary[k] * imaginary[k]);
}

extern "C" __global__ void mri_q(const float4* __restrict__ sample, const float* __restrict__ x,
                                 const float* __restrict__ y, const float* __restrict__ z,
                                 float2* __restrict__ q, int voxels, int samples) {
  __shared__ float4 staged[chunk];
  const int voxel = blockIdx.x * blockDim.x + threadIdx.x;
  const int clamped = min(voxel, voxels - 1);
  const float at_x = x[clamped];
  const float at_y = y[clamped];
  const float at_z = z[clamped];
  float real = 0.0f;
  float imaginary = 0.0f;
  for (int first = 0; first < samples; first += chunk) {
    const int count = min(chunk, samples - first);
    __syncthreads();
    for (int k = threadIdx.x; k < count; k += blockDim.x) staged[k] = sample[first + k];
    __syncthreads();
    for (int k = 0; k < count; ++k) {
      const float4 s = staged[k];
      const float turns = fmaf(s.x, at_x, fmaf(s.y, at_y, s.z * at_z));
      const float phase = 6.2831853f * turns;
      real = fmaf(s.w, __cosf(phase), real);
      imaginary = fmaf(s.w, __sinf(phase), imaginary);
    }
  }
  if (voxel < voxels) q[voxel] = make_float2(real, imaginary);
}
