// One step of a 7-point stencil in which a thread computes two points of a row, 32 apart, and walks
// along z with the cells below, at and above in registers. Neighbours in the plane come from shared
// memory, those of other blocks from the caches. The outermost cells keep their value.
constexpr int lanes = 32;
constexpr int rows = 4;
constexpr int points = 2;  // per thread
constexpr int wide = lanes * points;

extern "C" __global__ void stencil_coarsened(const float* __restrict__ in, float* __restrict__ out,
                                             int width, int height, int depth, float centre,
                                             float side) {
  __shared__ float plane[rows][wide];
  const int layer = width * height;
  const int ty = threadIdx.y;
  const int y = blockIdx.y * rows + ty;
  const int row = min(y, height - 1) * width;
  int column[points];
  float below[points];
  float here[points];
#pragma unroll
  for (int p = 0; p < points; ++p) {
    column[p] = blockIdx.x * wide + p * lanes + threadIdx.x;
    below[p] = here[p] = in[row + min(column[p], width - 1)];
  }
  const bool row_inside = y > 0 && y < height - 1;
  for (int z = 0; z < depth; ++z) {
    const float* now = in + z * layer;
#pragma unroll
    for (int p = 0; p < points; ++p) plane[ty][p * lanes + threadIdx.x] = here[p];
    __syncthreads();
#pragma unroll
    for (int p = 0; p < points; ++p) {
      const int tx = p * lanes + threadIdx.x;
      const int x = column[p];
      const int cell = row + min(x, width - 1);
      const float above = z + 1 < depth ? now[layer + cell] : here[p];
      float result = here[p];
      if (row_inside && x > 0 && x < width - 1 && z > 0 && z < depth - 1) {
        const float left = tx > 0 ? plane[ty][tx - 1] : now[cell - 1];
        const float right = tx < wide - 1 ? plane[ty][tx + 1] : now[cell + 1];
        const float up = ty > 0 ? plane[ty - 1][tx] : now[cell - width];
        const float down = ty < rows - 1 ? plane[ty + 1][tx] : now[cell + width];
        result = fmaf(side, ((left + right) + (up + down)) + (below[p] + above), centre * here[p]);
      }
      if (y < height && x < width) out[z * layer + cell] = result;
      below[p] = here[p];
      here[p] = above;
    }
    __syncthreads();
  }
}
