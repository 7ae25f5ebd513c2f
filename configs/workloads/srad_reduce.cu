// Sum of an image and of its squares, in place: each pass adds blocks of 512 values that lie
// `stride` apart, and leaves a block's sum at its first value. The tree keeps fewer and fewer
// threads of every warp busy.
constexpr int threads = 512;

extern "C" __global__ void srad_prepare(const float* __restrict__ image, float* __restrict__ sum,
                                        float* __restrict__ squares, int pixels) {
  const int i = blockIdx.x * threads + threadIdx.x;
  if (i >= pixels) return;
  const float pixel = image[i];
  sum[i] = pixel;
  squares[i] = pixel * pixel;
}

extern "C" __global__ void srad_reduce(float* sum, float* squares, int pixels, int stride) {
  __shared__ float of_sum[threads];
  __shared__ float of_squares[threads];
  const int t = threadIdx.x;
  const int i = (blockIdx.x * threads + t) * stride;
  of_sum[t] = i < pixels ? sum[i] : 0.0f;
  of_squares[t] = i < pixels ? squares[i] : 0.0f;
#pragma unroll 1
  for (int distance = 1; distance < threads; distance *= 2) {
    __syncthreads();
    if (t % (2 * distance) == 0) {
      of_sum[t] += of_sum[t + distance];
      of_squares[t] += of_squares[t + distance];
    }
  }
  if (t == 0) {
    sum[i] = of_sum[0];
    squares[i] = of_squares[0];
  }
}
