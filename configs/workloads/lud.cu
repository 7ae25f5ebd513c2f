// LU decomposition in place without pivoting, by 16 x 16 tiles: per step the tile on the diagonal,
// then the rest of its row and column of tiles, then all tiles to the right and below.
// Every element receives its updates in the order of k, as in the textbook loop.
constexpr int tile = 16;

// Makes the matrix diagonally dominant, so that it needs no pivoting.
extern "C" __global__ void lud_dominate(float* matrix, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) matrix[i * n + i] += static_cast<float>(n);
}

extern "C" __global__ void lud_diagonal(float* matrix, int n, int step) {
  __shared__ float cells[tile][tile + 1];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  float* corner = matrix + step * tile * n + step * tile;
  cells[y][x] = corner[y * n + x];
  __syncthreads();
#pragma unroll 1
  for (int k = 0; k < tile - 1; ++k) {
    if (x == k && y > k) cells[y][k] /= cells[k][k];
    __syncthreads();
    if (x > k && y > k) cells[y][x] = fmaf(-cells[y][k], cells[k][x], cells[y][x]);
    __syncthreads();
  }
  corner[y * n + x] = cells[y][x];
}

// The first half of the warp solves a tile of the row, the second half one of the column.
extern "C" __global__ void lud_perimeter(float* matrix, int n, int step) {
  __shared__ float diagonal[tile][tile + 1];
  __shared__ float right[tile][tile + 1];
  __shared__ float below[tile][tile + 1];
  const int offset = step * tile;
  const int far = offset + (blockIdx.x + 1) * tile;
  const int t = threadIdx.x % tile;
  const bool first_half = threadIdx.x < tile;
#pragma unroll 8
  for (int y = threadIdx.x / tile; y < tile; y += 2) {
    diagonal[y][t] = matrix[(offset + y) * n + offset + t];
    right[y][t] = matrix[(offset + y) * n + far + t];
    below[y][t] = matrix[(far + y) * n + offset + t];
  }
  __syncthreads();
  if (first_half) {
#pragma unroll 1
    for (int k = 0; k < tile; ++k) {
#pragma unroll 4
      for (int y = k + 1; y < tile; ++y) {
        right[y][t] = fmaf(-diagonal[y][k], right[k][t], right[y][t]);
      }
    }
  } else {
#pragma unroll 1
    for (int k = 0; k < tile; ++k) {
      below[t][k] /= diagonal[k][k];
#pragma unroll 4
      for (int x = k + 1; x < tile; ++x) {
        below[t][x] = fmaf(-below[t][k], diagonal[k][x], below[t][x]);
      }
    }
  }
  __syncthreads();
#pragma unroll 8
  for (int y = threadIdx.x / tile; y < tile; y += 2) {
    matrix[(offset + y) * n + far + t] = right[y][t];
    matrix[(far + y) * n + offset + t] = below[y][t];
  }
}

extern "C" __global__ void lud_internal(float* matrix, int n, int step) {
  __shared__ float left[tile][tile];
  __shared__ float above[tile][tile];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const int offset = step * tile;
  const int row = offset + (blockIdx.y + 1) * tile + y;
  const int column = offset + (blockIdx.x + 1) * tile + x;
  left[y][x] = matrix[row * n + offset + x];
  above[y][x] = matrix[(offset + y) * n + column];
  __syncthreads();
  float value = matrix[row * n + column];
#pragma unroll
  for (int k = 0; k < tile; ++k) value = fmaf(-left[y][k], above[k][x], value);
  matrix[row * n + column] = value;
}
