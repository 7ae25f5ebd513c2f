// A step of a five-point stencil on a slab of rows.  The rows above and below the slab are read
// where they are: in the memory of the neighbours.
extern "C" __global__ void halo_step(const float* __restrict__ above,
                                     const float* __restrict__ slab,
                                     const float* __restrict__ below, float* __restrict__ next,
                                     int width, int height, int has_above, int has_below) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float here = slab[y * width + x];
  const float left = x > 0 ? slab[y * width + x - 1] : here;
  const float right = x + 1 < width ? slab[y * width + x + 1] : here;
  float up = here, down = here;
  if (y > 0) {
    up = slab[(y - 1) * width + x];
  } else if (has_above) {
    up = above[(height - 1) * width + x];
  }
  if (y + 1 < height) {
    down = slab[(y + 1) * width + x];
  } else if (has_below) {
    down = below[x];
  }
  next[y * width + x] = 0.2f * (here + left + right + up + down);
}
