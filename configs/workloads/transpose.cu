// Matrix transpose through a shared tile whose rows are padded by one word, so that reading a
// column meets every bank once. Both global accesses are coalesced.
constexpr int tile = 32;
constexpr int rows = 8;

extern "C" __global__ void transpose(const float* __restrict__ in, float* __restrict__ out,
                                     int width, int height) {
  __shared__ float cells[tile][tile + 1];
  int x = blockIdx.x * tile + threadIdx.x;
  int y = blockIdx.y * tile + threadIdx.y;
#pragma unroll
  for (int i = 0; i < tile; i += rows) {
    if (x < width && y + i < height) cells[threadIdx.y + i][threadIdx.x] = in[(y + i) * width + x];
  }
  __syncthreads();
  x = blockIdx.y * tile + threadIdx.x;
  y = blockIdx.x * tile + threadIdx.y;
#pragma unroll
  for (int i = 0; i < tile; i += rows) {
    if (x < height && y + i < width)
      out[(y + i) * height + x] = cells[threadIdx.x][threadIdx.y + i];
  }
}
