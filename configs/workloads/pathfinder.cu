// Cheapest path through a grid of costs, row by row: each cell adds its cost to the least of the
// three cells above it. A block advances `steps` rows in shared memory before it goes back to
// global memory; its outer threads recompute cells of its neighbours, one more per row, and only
// the inner ones are written.
constexpr int block = 256;
constexpr int far = 1 << 28;

extern "C" __global__ void pathfinder(const int* __restrict__ wall, const int* __restrict__ from,
                                      int* __restrict__ to, int columns, int rows, int first_row,
                                      int steps) {
  __shared__ int cost[2][block + 2];
  const int inner = block - 2 * steps;
  const int x = blockIdx.x * inner - steps + static_cast<int>(threadIdx.x);
  const int t = threadIdx.x + 1;
  const bool valid = x >= 0 && x < columns;
  if (threadIdx.x == 0) {
    cost[0][0] = cost[1][0] = far;
    cost[0][block + 1] = cost[1][block + 1] = far;
  }
  int here = valid ? from[x] : far;
  int current = 0;
  const int last_row = min(first_row + steps, rows);
  for (int row = first_row; row < last_row; ++row) {
    cost[current][t] = here;
    __syncthreads();
    if (valid) {
      here = wall[row * columns + x] +
             min(min(cost[current][t - 1], cost[current][t]), cost[current][t + 1]);
    }
    current ^= 1;
  }
  const int position = threadIdx.x;
  if (valid && position >= steps && position < block - steps) to[x] = here;
}
