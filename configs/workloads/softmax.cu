// Softmax of rows, forward and backward: a warp for each row.
#include "rows.cuh"

extern "C" __global__ void softmax(const float* __restrict__ in, float* __restrict__ out, int count,
                                   int columns) {
  const int row = rows::of_warp(), lane = threadIdx.x % 32;
  if (row >= count) return;
  const float* from = in + row * columns;
  float* to = out + row * columns;
  float top = -3e38f, total = 0;
  for (int x = lane; x < columns; x += 32) top = fmaxf(top, from[x]);
  top = rows::largest(top);
  for (int x = lane; x < columns; x += 32) {
    to[x] = __expf(from[x] - top);
    total += to[x];
  }
  const float share = 1.0f / rows::sum(total);
  for (int x = lane; x < columns; x += 32) to[x] *= share;
}

extern "C" __global__ void softmax_backward(const float* __restrict__ out,
                                            const float* __restrict__ d_out,
                                            float* __restrict__ d_in, int count, int columns) {
  const int row = rows::of_warp(), lane = threadIdx.x % 32;
  if (row >= count) return;
  const float *from = out + row * columns, *change = d_out + row * columns;
  float total = 0;
  for (int x = lane; x < columns; x += 32) total = fmaf(from[x], change[x], total);
  total = rows::sum(total);
  for (int x = lane; x < columns; x += 32) d_in[row * columns + x] = from[x] * (change[x] - total);
}
