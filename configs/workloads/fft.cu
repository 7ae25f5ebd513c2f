// Many Fourier transforms of 256 complex points, a block of 128 threads for each: eight stages of
// Stockham's algorithm between two halves of shared memory, so that the result comes out in order.
constexpr int points = 256;
constexpr int threads = points / 2;

// Powers of the 256th root of unity.
extern "C" __global__ void fft_roots(float2* __restrict__ root) {
  const float angle = -6.2831853f * static_cast<float>(threadIdx.x) / points;
  root[threadIdx.x] = make_float2(cosf(angle), sinf(angle));
}

extern "C" __global__ void fft_256(const float2* __restrict__ in, const float2* __restrict__ root,
                                   float2* __restrict__ out) {
  __shared__ float2 half[2][points];
  __shared__ float2 roots[threads];
  const int t = threadIdx.x;
  roots[t] = root[t];
  half[0][t] = in[blockIdx.x * points + t];
  half[0][t + threads] = in[blockIdx.x * points + t + threads];
  int from = 0;
  for (int length = 1; length < points; length *= 2) {
    __syncthreads();
    // Pairs of transforms of `length` points become one of twice as many.
    const int k = t % length;
    const float2 a = half[from][t];
    const float2 b = half[from][t + threads];
    const float2 w = roots[k * (threads / length)];
    const float real = fmaf(b.x, w.x, -(b.y * w.y));
    const float imaginary = fmaf(b.x, w.y, b.y * w.x);
    const int to = (t - k) * 2 + k;
    half[1 - from][to] = make_float2(a.x + real, a.y + imaginary);
    half[1 - from][to + length] = make_float2(a.x - real, a.y - imaginary);
    from = 1 - from;
  }
  __syncthreads();
  out[blockIdx.x * points + t] = half[from][t];
  out[blockIdx.x * points + t + threads] = half[from][t + threads];
}
