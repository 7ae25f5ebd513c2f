// Rodinia's hotspot: a block of 16 x 16 threads advances `steps` time steps on its tile; power and temperature are
// staged in shared memory, borders are clamped, and the ring of valid cells shrinks by one a step.
constexpr int side = 16;

__device__ __forceinline__ bool within(int x, int low, int high) { return x >= low && x <= high; }

extern "C" __global__ void hotspot(int steps, const float* power, const float* from, float* to,
                                   int columns, int rows, int border_columns, int border_rows,
                                   float capacity, float rx, float ry, float rz, float step) {
  __shared__ float here[side][side];
  __shared__ float heat[side][side];
  __shared__ float next[side][side];
  const float ambient = 80.0f;
  const int tx = threadIdx.x, ty = threadIdx.y;
  const float gain = step / capacity, across_x = 1 / rx, across_y = 1 / ry, across_z = 1 / rz;
  const int rows_kept = side - steps * 2, columns_kept = side - steps * 2;
  const int top = rows_kept * blockIdx.y - border_rows, left = columns_kept * blockIdx.x - border_columns;
  const int bottom = top + side - 1, right = left + side - 1;
  const int y = top + ty, x = left + tx;
  const int index = columns * y + x;
  if (within(y, 0, rows - 1) && within(x, 0, columns - 1)) {
    here[ty][tx] = from[index];
    heat[ty][tx] = power[index];
  }
  __syncthreads();
  const int first_y = top < 0 ? -top : 0;
  const int last_y = bottom > rows - 1 ? side - 1 - (bottom - rows + 1) : side - 1;
  const int first_x = left < 0 ? -left : 0;
  const int last_x = right > columns - 1 ? side - 1 - (right - columns + 1) : side - 1;
  const int north = ty - 1 < first_y ? first_y : ty - 1, south = ty + 1 > last_y ? last_y : ty + 1;
  const int west = tx - 1 < first_x ? first_x : tx - 1, east = tx + 1 > last_x ? last_x : tx + 1;
  bool computed = false;
  for (int i = 0; i < steps; ++i) {
    computed = false;
    if (within(tx, i + 1, side - i - 2) && within(ty, i + 1, side - i - 2) &&
        within(tx, first_x, last_x) && within(ty, first_y, last_y)) {
      computed = true;
      // Twice the middle is f64 as published, and so is all that it is a part of.
      const double middle = here[ty][tx];
      const double vertical = fma(-2.0, middle, static_cast<double>(here[south][tx] + here[north][tx]));
      const double horizontal = fma(-2.0, middle, static_cast<double>(here[ty][east] + here[ty][west]));
      const double change = fma(horizontal, static_cast<double>(across_x),
                                fma(vertical, static_cast<double>(across_y), static_cast<double>(heat[ty][tx]))) +
                            static_cast<double>((ambient - here[ty][tx]) * across_z);
      next[ty][tx] = static_cast<float>(fma(static_cast<double>(gain), change, middle));
    }
    __syncthreads();
    if (i == steps - 1) break;
    if (computed) here[ty][tx] = next[ty][tx];
    __syncthreads();
  }
  if (computed) to[index] = next[ty][tx];
}
