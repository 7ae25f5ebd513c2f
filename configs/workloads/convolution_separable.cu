// Convolution of an image with a separable filter of 17 taps: along the rows, then along the
// columns. A thread makes four results from a tile in shared memory that includes 8 pixels more on
// either side; beyond the border the image is zero.
constexpr int radius = 8;
constexpr int taps = 2 * radius + 1;
constexpr int results = 4;  // per thread
constexpr int lanes = 32;   // of a block along x
constexpr int rows = 4;     // of a block along y, for rows
constexpr int tall = 8;     // of a block along y, for columns

extern "C" __global__ void convolution_rows(const float* __restrict__ in,
                                            const float* __restrict__ filter,
                                            float* __restrict__ out, int width, int height) {
  __shared__ float pixel[rows][lanes * results + 2 * radius];
  __shared__ float tap[taps];
  const int first = blockIdx.x * lanes * results;
  const int y = blockIdx.y * rows + threadIdx.y;
  const float* row = in + min(y, height - 1) * width;
  if (threadIdx.y == 0 && threadIdx.x < taps) tap[threadIdx.x] = filter[threadIdx.x];
  for (int i = threadIdx.x; i < lanes * results + 2 * radius; i += lanes) {
    const int x = first + i - radius;
    pixel[threadIdx.y][i] = x >= 0 && x < width ? row[x] : 0.0f;
  }
  __syncthreads();
#pragma unroll
  for (int r = 0; r < results; ++r) {
    const int at = r * lanes + threadIdx.x;
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < taps; ++k) sum = fmaf(tap[k], pixel[threadIdx.y][at + k], sum);
    if (first + at < width && y < height) out[y * width + first + at] = sum;
  }
}

extern "C" __global__ void convolution_columns(const float* __restrict__ in,
                                               const float* __restrict__ filter,
                                               float* __restrict__ out, int width, int height) {
  __shared__ float pixel[tall * results + 2 * radius][lanes];
  __shared__ float tap[taps];
  const int first = blockIdx.y * tall * results;
  const int x = blockIdx.x * lanes + threadIdx.x;
  const int column = min(x, width - 1);
  if (threadIdx.y == 0 && threadIdx.x < taps) tap[threadIdx.x] = filter[threadIdx.x];
  for (int i = threadIdx.y; i < tall * results + 2 * radius; i += tall) {
    const int y = first + i - radius;
    pixel[i][threadIdx.x] = y >= 0 && y < height ? in[y * width + column] : 0.0f;
  }
  __syncthreads();
#pragma unroll
  for (int r = 0; r < results; ++r) {
    const int at = r * tall + threadIdx.y;
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < taps; ++k) sum = fmaf(tap[k], pixel[at + k][threadIdx.x], sum);
    if (first + at < height && x < width) out[(first + at) * width + x] = sum;
  }
}
