// Temperature of a chip: each cell exchanges heat with its four neighbours and the ambient and is
// heated by its own power. A block advances `steps` time steps on a 16 x 16 tile in shared memory;
// the ring of cells that lack a correct neighbour grows by one per step, and only the inner ones
// are written. Cells beyond the chip repeat the border.
constexpr int tile = 16;
constexpr float ambient = 80.0f;

extern "C" __global__ void hotspot(const float* __restrict__ power, const float* __restrict__ from,
                                   float* __restrict__ to, int width, int height, int steps,
                                   float heating, float across, float loss) {
  __shared__ float cells[2][tile][tile];
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int inner = tile - 2 * steps;
  const int left = static_cast<int>(blockIdx.x) * inner - steps;
  const int top = static_cast<int>(blockIdx.y) * inner - steps;
  const int x = left + tx;
  const int y = top + ty;
  const bool valid = x >= 0 && x < width && y >= 0 && y < height;
  const float heat = valid ? heating * power[y * width + x] : 0.0f;
  float here = valid ? from[y * width + x] : 0.0f;
  const int west = max(max(tx - 1, 0), -left);
  const int east = min(min(tx + 1, tile - 1), width - 1 - left);
  const int north = max(max(ty - 1, 0), -top);
  const int south = min(min(ty + 1, tile - 1), height - 1 - top);
  int current = 0;
  for (int step = 0; step < steps; ++step) {
    cells[current][ty][tx] = here;
    __syncthreads();
    if (valid) {
      const float(*now)[tile] = cells[current];
      const float around = (now[ty][west] + now[ty][east]) + (now[north][tx] + now[south][tx]);
      const float exchange = fmaf(-4.0f, here, around);
      here = fmaf(loss, ambient - here, fmaf(across, exchange, here + heat));
    }
    current ^= 1;
  }
  const bool written = tx >= steps && tx < tile - steps && ty >= steps && ty < tile - steps;
  if (valid && written) to[y * width + x] = here;
}
