// The walk of barnes_hut with a warp that goes through the tree as one, its stack in shared memory:
// a cell is opened for all of its bodies if one of them is too near.
#include "barnes_hut.cu"

constexpr int most_warps = 8;  // of a block
constexpr unsigned all_lanes = 0xffffffffu;

// `openness` is the square of the smallest ratio of distance to size at which a cell stays closed.
extern "C" __global__ void bh_forces_by_warps(const float* __restrict__ x,
                                              const float* __restrict__ y,
                                              const float4* __restrict__ cell,
                                              float2* __restrict__ force,
                                              unsigned* __restrict__ visited, int bodies,
                                              int levels, float openness) {
  __shared__ int stacks[most_warps][deep_stack];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool leads = threadIdx.x % 32 == 0;
  int* stack = stacks[threadIdx.x / 32];
  const float own_x = i < bodies ? x[i] : 0.0f;
  const float own_y = i < bodies ? y[i] : 0.0f;
  if (leads) stack[0] = 0;
  __syncwarp();
  int top = 1;
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
    const bool closed = i >= bodies || level == levels || squared >= openness * (size * size);
    if (__all_sync(all_lanes, closed)) {
      const float pull = pull_of(c.z, squared);
      force_x = fmaf(pull, dx, force_x);
      force_y = fmaf(pull, dy, force_y);
      continue;
    }
    if (leads) {
      const int child = first_child(level, row, column);
      stack[top] = child;
      stack[top + 1] = child + 1;
      stack[top + 2] = child + (1 << 12);
      stack[top + 3] = child + (1 << 12) + 1;
    }
    __syncwarp();
    top += 4;
  }
  if (i >= bodies) return;
  force[i] = make_float2(force_x, force_y);
  visited[i] = visits;
}
