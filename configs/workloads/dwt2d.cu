// Forward wavelet transform of a colour image with the reversible 5/3 filter: the first kernel
// takes the colours apart, the second makes one level of the transform by lifting on tiles of 32 x
// 32 samples and their surroundings in shared memory. Beyond the border the image is mirrored.
constexpr int tile = 32;
constexpr int before = 2;  // samples needed to the left of a tile and above it
constexpr int wide = tile + before + 1;
constexpr int threads_x = 32;
constexpr int threads_y = 8;

extern "C" __global__ void dwt2d_components(const unsigned char* __restrict__ colour,
                                            int* __restrict__ component, int pixels) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pixels) return;
  component[i] = colour[3 * i] - 128;
  component[pixels + i] = colour[3 * i + 1] - 128;
  component[2 * pixels + i] = colour[3 * i + 2] - 128;
}

__device__ __forceinline__ int mirrored(int i, int length) {
  const int inside = abs(i);
  return inside < length ? inside : 2 * (length - 1) - inside;
}

// Takes the upper left width x height samples of `in` to four bands in the same part of `out`.
extern "C" __global__ void dwt2d_level(const int* __restrict__ in, int* __restrict__ out, int width,
                                       int height, int stride, int pixels) {
  __shared__ int cell[wide][wide + 1];
  const int left = blockIdx.x * tile - before;
  const int top = blockIdx.y * tile - before;
  in += blockIdx.z * pixels;
  out += blockIdx.z * pixels;
  for (int y = threadIdx.y; y < wide; y += threads_y) {
    const int row = mirrored(top + y, height) * stride;
    for (int x = threadIdx.x; x < wide; x += threads_x) {
      cell[y][x] = in[row + mirrored(left + x, width)];
    }
  }
  __syncthreads();
  // Along the rows: odd samples less what their neighbours predict, then even ones smoothed.
  const int x_odd = 2 * threadIdx.x + 1;
  const int x_even = 2 * threadIdx.x + 2;
  for (int y = threadIdx.y; y < wide; y += threads_y) {
    if (x_odd < wide) cell[y][x_odd] -= (cell[y][x_odd - 1] + cell[y][x_odd + 1]) >> 1;
  }
  __syncthreads();
  for (int y = threadIdx.y; y < wide; y += threads_y) {
    if (x_even < wide - 1) cell[y][x_even] += (cell[y][x_even - 1] + cell[y][x_even + 1] + 2) >> 2;
  }
  __syncthreads();
  const int x = threadIdx.x + before;
  for (int y = 2 * threadIdx.y + 1; y < wide; y += 2 * threads_y) {
    cell[y][x] -= (cell[y - 1][x] + cell[y + 1][x]) >> 1;
  }
  __syncthreads();
  for (int y = 2 * threadIdx.y + 2; y < wide - 1; y += 2 * threads_y) {
    cell[y][x] += (cell[y - 1][x] + cell[y + 1][x] + 2) >> 2;
  }
  __syncthreads();
  const int column = blockIdx.x * (tile / 2) + threadIdx.x % 16;
  const int half = threadIdx.x / 16;
  for (int y = threadIdx.y; y < tile; y += threads_y) {
    const int row = blockIdx.y * (tile / 2) + y / 2 + y % 2 * (height / 2);
    out[row * stride + column + half * (width / 2)] =
        cell[y + before][2 * (threadIdx.x % 16) + half + before];
  }
}
