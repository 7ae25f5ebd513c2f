// Gridding of non-Cartesian magnetic resonance samples onto a plane: samples are counted into tiles
// of 8 x 8 grid points and sorted by tile; then a block per tile gathers from its own and the eight
// tiles around it. Samples crowd in the middle of k-space, so blocks differ widely in work.
constexpr int side = 8;  // grid points of a tile in each direction
constexpr int threads = side * side;

struct alignas(16) Sample {
  float x, y, real, imaginary;
};

__device__ __forceinline__ int tile_of(const Sample& sample, int tiles) {
  const int x = min(max(static_cast<int>(sample.x), 0), tiles * side - 1) / side;
  const int y = min(max(static_cast<int>(sample.y), 0), tiles * side - 1) / side;
  return y * tiles + x;
}

// Offsets from the middle, in widths of the plane, become positions on it.
extern "C" __global__ void gridding_acquire(const float2* __restrict__ offset,
                                            const float2* __restrict__ signal,
                                            Sample* __restrict__ sample, int samples, int width) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= samples) return;
  const float2 from_middle = offset[i];
  const float2 value = signal[i];
  const float scale = static_cast<float>(width);
  const float x = fmaf(from_middle.x, scale, 0.5f * scale);
  const float y = fmaf(from_middle.y, scale, 0.5f * scale);
  sample[i] = {x, y, value.x, value.y};
}

// Which of its tile's samples a sample is depends on who comes first.
extern "C" __global__ void gridding_count(const Sample* __restrict__ sample, unsigned* count,
                                          unsigned* __restrict__ place, int samples, int tiles) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < samples) place[i] = atomicAdd(&count[tile_of(sample[i], tiles)], 1u);
}

// Exclusive sums of the counts, by one warp.
extern "C" __global__ void gridding_scan(const unsigned* __restrict__ count,
                                         unsigned* __restrict__ start, int all_tiles) {
  unsigned before = 0;
  for (int first = 0; first < all_tiles; first += 32) {
    const int i = first + threadIdx.x;
    const unsigned own = i < all_tiles ? count[i] : 0;
    unsigned sum = own;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const unsigned left = __shfl_up_sync(0xffffffffu, sum, distance);
      if (threadIdx.x >= distance) sum += left;
    }
    if (i < all_tiles) start[i] = before + sum - own;
    before += __shfl_sync(0xffffffffu, sum, 31);
  }
  if (threadIdx.x == 0) start[all_tiles] = before;
}

extern "C" __global__ void gridding_sort(const Sample* __restrict__ sample,
                                         const unsigned* __restrict__ start,
                                         const unsigned* __restrict__ place,
                                         Sample* __restrict__ sorted, int samples, int tiles) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= samples) return;
  const Sample own = sample[i];
  sorted[start[tile_of(own, tiles)] + place[i]] = own;
}

// Weights fall with the squared distance and stand in a table of `steps` entries.
extern "C" __global__ void gridding_gather(const Sample* __restrict__ sorted,
                                           const unsigned* __restrict__ start,
                                           const float* __restrict__ weight,
                                           float2* __restrict__ grid, int tiles, int steps,
                                           float radius) {
  __shared__ Sample staged[threads];
  const int thread = threadIdx.y * side + threadIdx.x;
  const int column = blockIdx.x * side + threadIdx.x;
  const int row = blockIdx.y * side + threadIdx.y;
  const float x = static_cast<float>(column) + 0.5f;
  const float y = static_cast<float>(row) + 0.5f;
  const float scale = static_cast<float>(steps) / (radius * radius);
  float real = 0.0f;
  float imaginary = 0.0f;
  const int left = max(static_cast<int>(blockIdx.x) - 1, 0);
  const int right = min(static_cast<int>(blockIdx.x) + 1, tiles - 1);
  const int bottom = min(static_cast<int>(blockIdx.y) + 1, tiles - 1);
  for (int tile_y = max(static_cast<int>(blockIdx.y) - 1, 0); tile_y <= bottom; ++tile_y) {
    const unsigned end = start[tile_y * tiles + right + 1];
    for (unsigned first = start[tile_y * tiles + left]; first < end; first += threads) {
      const int count = min(static_cast<int>(end - first), threads);
      __syncthreads();
      if (thread < count) staged[thread] = sorted[first + thread];
      __syncthreads();
#pragma unroll 1
      for (int i = 0; i < count; ++i) {
        const Sample s = staged[i];
        const float dx = s.x - x;
        const float dy = s.y - y;
        const int step = static_cast<int>(fmaf(dx, dx, dy * dy) * scale);
        if (step < steps) {
          const float w = weight[step];
          real = fmaf(w, s.real, real);
          imaginary = fmaf(w, s.imaginary, imaginary);
        }
      }
    }
  }
  grid[row * tiles * side + column] = make_float2(real, imaginary);
}
