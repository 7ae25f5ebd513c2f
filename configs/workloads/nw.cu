// Needleman-Wunsch alignment scores. The table is cut into 32 x 32 tiles; tiles of one
// anti-diagonal are independent and form one launch. Inside a tile a warp sweeps the cells'
// anti-diagonals in shared memory.
constexpr int tile = 32;

extern "C" __global__ void nw_borders(int* __restrict__ score, int length, int gap) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > length) return;
  score[i] = -gap * i;
  score[i * (length + 1)] = -gap * i;
}

extern "C" __global__ void nw_diagonal(int* score, const int* __restrict__ first,
                                       const int* __restrict__ second, int length, int diagonal,
                                       int match, int mismatch, int gap) {
  __shared__ int cells[tile + 1][tile + 1];
  __shared__ int letters[tile];
  const int t = threadIdx.x;
  const int tiles = length / tile;
  const int tile_row = max(0, diagonal - tiles + 1) + blockIdx.x;
  const int tile_column = diagonal - tile_row;
  const int stride = length + 1;
  int* corner = score + tile_row * tile * stride + tile_column * tile;
  letters[t] = second[tile_column * tile + t];
  const int letter = first[tile_row * tile + t];
  cells[0][t + 1] = corner[t + 1];
  cells[t + 1][0] = corner[(t + 1) * stride];
  if (t == 0) cells[0][0] = corner[0];
  __syncthreads();
  for (int step = 0; step < 2 * tile - 1; ++step) {
    const int x = step - t;
    if (x >= 0 && x < tile) {
      const int similarity = letter == letters[x] ? match : mismatch;
      const int skip = max(cells[t][x + 1], cells[t + 1][x]) - gap;
      cells[t + 1][x + 1] = max(cells[t][x] + similarity, skip);
    }
    __syncthreads();
  }
  for (int y = 1; y <= tile; ++y) corner[y * stride + t + 1] = cells[y][t + 1];
}
