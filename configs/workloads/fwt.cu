// Fast Walsh transform and, with two of them, dyadic convolution. Butterflies of elements far apart
// go through global memory, four elements per thread and two stages per launch; the last ten stages
// of 1024 elements at a time stay in shared memory.
constexpr int elements = 1024;
constexpr int threads = elements / 4;

// The stages of distance 2 * stride and stride.
__device__ __forceinline__ void two_stages(float* data, int first, int stride) {
  const float a = data[first];
  const float b = data[first + stride];
  const float c = data[first + 2 * stride];
  const float d = data[first + 3 * stride];
  const float upper_a = a + c;
  const float upper_b = b + d;
  const float lower_a = a - c;
  const float lower_b = b - d;
  data[first] = upper_a + upper_b;
  data[first + stride] = upper_a - upper_b;
  data[first + 2 * stride] = lower_a + lower_b;
  data[first + 3 * stride] = lower_a - lower_b;
}

// A thread for every four elements; the stride is a power of four.
extern "C" __global__ void fwt_far(float* data, int stride) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int low = i & (stride - 1);
  two_stages(data, (i - low) * 4 + low, stride);
}

extern "C" __global__ void fwt_near(float* __restrict__ data) {
  __shared__ float piece[elements];
  float* own = data + blockIdx.x * elements;
  for (int i = threadIdx.x; i < elements; i += threads) piece[i] = own[i];
#pragma unroll 1
  for (int stride = elements / 4; stride > 0; stride /= 4) {
    __syncthreads();
    const int low = threadIdx.x & (stride - 1);
    two_stages(piece, (threadIdx.x - low) * 4 + low, stride);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < elements; i += threads) own[i] = piece[i];
}

extern "C" __global__ void fwt_modulate(float* __restrict__ data, const float* __restrict__ filter,
                                        float scale, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = data[i] * filter[i] * scale;
}
