// Needleman-Wunsch scores from a matrix of similarities, in tiles of 16 x 16 with a thread per
// column. One kernel works on the anti-diagonals of tiles up to the longest, another one on those
// after it.
constexpr int tile = 16;

extern "C" __global__ void nw_two_borders(int* __restrict__ score, int length, int gap) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > length) return;
  score[i] = -gap * i;
  score[i * (length + 1)] = -gap * i;
}

__device__ __forceinline__ void score_tile(int* score, const int* __restrict__ similarity,
                                           int length, int gap, int tile_x, int tile_y) {
  __shared__ int cells[tile + 1][tile + 1];
  __shared__ int similar[tile][tile];
  const int t = threadIdx.x;
  const int stride = length + 1;
  int* corner = score + tile_y * tile * stride + tile_x * tile;
  const int* own = similarity + tile_y * tile * length + tile_x * tile;
#pragma unroll
  for (int y = 0; y < tile; ++y) similar[y][t] = own[y * length + t];
  cells[0][t + 1] = corner[t + 1];
  cells[t + 1][0] = corner[(t + 1) * stride];
  if (t == 0) cells[0][0] = corner[0];
#pragma unroll 1
  for (int step = 0; step < 2 * tile - 1; ++step) {
    __syncthreads();
    const int y = step - t;
    if (y >= 0 && y < tile) {
      const int skip = max(cells[y][t + 1], cells[y + 1][t]) - gap;
      cells[y + 1][t + 1] = max(cells[y][t] + similar[y][t], skip);
    }
  }
  __syncthreads();
#pragma unroll
  for (int y = 1; y <= tile; ++y) corner[y * stride + t + 1] = cells[y][t + 1];
}

extern "C" __global__ void nw_two_growing(int* score, const int* __restrict__ similarity,
                                          int length, int gap, int diagonal) {
  score_tile(score, similarity, length, gap, blockIdx.x, diagonal - blockIdx.x);
}

extern "C" __global__ void nw_two_shrinking(int* score, const int* __restrict__ similarity,
                                            int length, int gap, int diagonal) {
  const int last = length / tile - 1;
  score_tile(score, similarity, length, gap, diagonal - last + blockIdx.x, last - blockIdx.x);
}
