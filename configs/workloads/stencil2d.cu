// One step of a weighted 5-point and of a 9-point stencil on a width x height grid. A block of
// 16 x 16 threads loads its tile with a halo of one cell into shared memory; cells beyond the grid
// repeat the border.
constexpr int tile = 16;

__device__ __forceinline__ int clamp(int value, int low, int high) {
  return max(low, min(value, high));
}

__device__ __forceinline__ void load_tile(float (*cells)[tile + 2], const float* in, int width,
                                          int height) {
  constexpr int side = tile + 2;
  const int left = blockIdx.x * tile - 1;
  const int top = blockIdx.y * tile - 1;
#pragma unroll 1
  for (int i = threadIdx.y * tile + threadIdx.x; i < side * side; i += tile * tile) {
    const int x = i % side;
    const int y = i / side;
    const int column = clamp(left + x, 0, width - 1);
    cells[y][x] = in[clamp(top + y, 0, height - 1) * width + column];
  }
  __syncthreads();
}

extern "C" __global__ void stencil5(const float* __restrict__ in, float* __restrict__ out,
                                    int width, int height, float centre, float edge) {
  __shared__ float cells[tile + 2][tile + 2];
  load_tile(cells, in, width, height);
  const int column = blockIdx.x * tile + threadIdx.x;
  const int row = blockIdx.y * tile + threadIdx.y;
  if (column >= width || row >= height) return;
  const int x = threadIdx.x + 1;
  const int y = threadIdx.y + 1;
  const float sides = (cells[y - 1][x] + cells[y + 1][x]) + (cells[y][x - 1] + cells[y][x + 1]);
  out[row * width + column] = fmaf(edge, sides, centre * cells[y][x]);
}

extern "C" __global__ void stencil9(const float* __restrict__ in, float* __restrict__ out,
                                    int width, int height, float centre, float edge, float corner) {
  __shared__ float cells[tile + 2][tile + 2];
  load_tile(cells, in, width, height);
  const int column = blockIdx.x * tile + threadIdx.x;
  const int row = blockIdx.y * tile + threadIdx.y;
  if (column >= width || row >= height) return;
  const int x = threadIdx.x + 1;
  const int y = threadIdx.y + 1;
  const float sides = (cells[y - 1][x] + cells[y + 1][x]) + (cells[y][x - 1] + cells[y][x + 1]);
  const float corners =
      (cells[y - 1][x - 1] + cells[y - 1][x + 1]) + (cells[y + 1][x - 1] + cells[y + 1][x + 1]);
  out[row * width + column] = fmaf(corner, corners, fmaf(edge, sides, centre * cells[y][x]));
}
