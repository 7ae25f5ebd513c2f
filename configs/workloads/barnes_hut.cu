// Forces between bodies of a plane by a walk through a quadtree: the bodies' masses are summed up
// in its leaves with atomics, then level by level; a body sees a cell that is small beside its
// distance as one body, and opens any other. Sums are fixed-point, so that the order of atomics
// does not matter. The cells still to be visited lie on a stack in local memory.
constexpr float scale = 1048576.0f;  // fixed point
constexpr int deepest = 10;          // levels below the root
constexpr int deep_stack = 3 * deepest + 4;

// Levels stand one after the other, each row by row.
__device__ __forceinline__ int level_start(int level) {
  return ((1 << (2 * level)) - 1) / 3;
}

__device__ __forceinline__ int leaf_row(float at, int levels) {
  const int cells = 1 << levels;
  return min(max(static_cast<int>(at * static_cast<float>(cells)), 0), cells - 1);
}

// A body is x, y in [0, 1) and a mass.
extern "C" __global__ void bh_leaves(const float* __restrict__ x, const float* __restrict__ y,
                                     const float* __restrict__ mass, unsigned long long* sum,
                                     int bodies, int levels) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= bodies) return;
  const float m = mass[i];
  const int leaf =
      level_start(levels) + (leaf_row(y[i], levels) << levels) + leaf_row(x[i], levels);
  const long long fixed = __float2ll_rn(m * scale);
  const long long fixed_x = __float2ll_rn(m * x[i] * scale);
  const long long fixed_y = __float2ll_rn(m * y[i] * scale);
  atomicAdd(&sum[3 * leaf], static_cast<unsigned long long>(fixed));
  atomicAdd(&sum[3 * leaf + 1], static_cast<unsigned long long>(fixed_x));
  atomicAdd(&sum[3 * leaf + 2], static_cast<unsigned long long>(fixed_y));
}

// A thread per cell of `level`: the sum of its four children.
extern "C" __global__ void bh_level(unsigned long long* sum, int level) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int side = 1 << level;
  if (i >= side * side) return;
  const int row = i / side;
  const int column = i % side;
  const int child = level_start(level + 1) + 2 * row * 2 * side + 2 * column;
#pragma unroll
  for (int k = 0; k < 3; ++k) {
    sum[3 * (level_start(level) + i) + k] = sum[3 * child + k] + sum[3 * (child + 1) + k] +
                                            sum[3 * (child + 2 * side) + k] +
                                            sum[3 * (child + 2 * side + 1) + k];
  }
}

// Mass and centre of every cell; one without bodies has no mass.
extern "C" __global__ void bh_centres(const unsigned long long* __restrict__ sum,
                                      float4* __restrict__ cell, int cells) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= cells) return;
  const float mass = static_cast<float>(static_cast<long long>(sum[3 * i]));
  const float x = static_cast<float>(static_cast<long long>(sum[3 * i + 1]));
  const float y = static_cast<float>(static_cast<long long>(sum[3 * i + 2]));
  const float divisor = fmaxf(mass, 1.0f);
  cell[i] = make_float4(x / divisor, y / divisor, mass / scale, 0.0f);
}

// As it lies on a stack; the other three children stand to its right, below it and there to the
// right.
__device__ __forceinline__ int first_child(int level, int row, int column) {
  return (level + 1) << 24 | (2 * row) << 12 | (2 * column);
}

// How strongly a cell pulls at a distance, over that distance.
__device__ __forceinline__ float pull_of(float mass, float squared) {
  const float softened = squared + 1e-4f;
  const float inverse = rsqrtf(softened);
  return mass * (inverse * inverse) * inverse;
}

// `openness` is the square of the smallest ratio of distance to size at which a cell stays closed.
extern "C" __global__ void bh_forces(const float* __restrict__ x, const float* __restrict__ y,
                                     const float4* __restrict__ cell, float2* __restrict__ force,
                                     unsigned* __restrict__ visited, int bodies, int levels,
                                     float openness) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= bodies) return;
  const float own_x = x[i];
  const float own_y = y[i];
  int stack[deep_stack];
  int top = 0;
  stack[top++] = 0;
  float force_x = 0.0f;
  float force_y = 0.0f;
  unsigned visits = 0;
  while (top > 0) {
    // A cell on the stack: level, row and column.
    const int code = stack[--top];
    const int level = code >> 24;
    const int row = code >> 12 & 0xfff;
    const int column = code & 0xfff;
    const float4 c = cell[level_start(level) + (row << level) + column];
    ++visits;
    if (c.z == 0.0f) continue;
    const float dx = c.x - own_x;
    const float dy = c.y - own_y;
    const float squared = fmaf(dx, dx, dy * dy);
    const float size = 1.0f / static_cast<float>(1 << level);
    if (level == levels || squared >= openness * (size * size)) {
      const float pull = pull_of(c.z, squared);
      force_x = fmaf(pull, dx, force_x);
      force_y = fmaf(pull, dy, force_y);
      continue;
    }
    const int child = first_child(level, row, column);
    stack[top++] = child;
    stack[top++] = child + 1;
    stack[top++] = child + (1 << 12);
    stack[top++] = child + (1 << 12) + 1;
  }
  force[i] = make_float2(force_x, force_y);
  visited[i] = visits;
}
