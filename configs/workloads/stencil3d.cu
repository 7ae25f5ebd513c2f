// One step of a 7-point stencil on a width x height x depth grid. A thread walks along z and keeps
// the cells below, at and above it in registers; its neighbours in x and y come from a shared
// tile with a halo. The outermost cells keep their value.
constexpr int tile_x = 32;
constexpr int tile_y = 8;

extern "C" __global__ void stencil3d(const float* __restrict__ in, float* __restrict__ out,
                                     int width, int height, int depth, float centre, float side) {
  __shared__ float plane[tile_y + 2][tile_x + 2];
  const int x = blockIdx.x * tile_x + threadIdx.x;
  const int y = blockIdx.y * tile_y + threadIdx.y;
  const int column = min(x, width - 1);
  const int row = min(y, height - 1);
  const int layer = width * height;
  const int tx = threadIdx.x + 1;
  const int ty = threadIdx.y + 1;
  int cell = row * width + column;
  float below = in[cell];
  float here = below;
  float above = depth > 1 ? in[cell + layer] : here;
  for (int z = 0; z < depth; ++z) {
    plane[ty][tx] = here;
    if (threadIdx.x == 0) plane[ty][0] = in[cell - min(column, 1)];
    if (threadIdx.x == tile_x - 1) plane[ty][tile_x + 1] = in[cell + min(width - 1 - column, 1)];
    if (threadIdx.y == 0) plane[0][tx] = in[cell - width * min(row, 1)];
    if (threadIdx.y == tile_y - 1) {
      plane[tile_y + 1][tx] = in[cell + width * min(height - 1 - row, 1)];
    }
    __syncthreads();
    if (x < width && y < height) {
      const bool inside =
          x > 0 && x < width - 1 && y > 0 && y < height - 1 && z > 0 && z < depth - 1;
      float result = here;
      if (inside) {
        const float sides =
            ((plane[ty][tx - 1] + plane[ty][tx + 1]) + (plane[ty - 1][tx] + plane[ty + 1][tx])) +
            (below + above);
        result = fmaf(side, sides, centre * here);
      }
      out[cell] = result;
    }
    __syncthreads();
    cell += layer;
    below = here;
    here = above;
    if (z + 2 < depth) above = in[cell + layer];
  }
}
