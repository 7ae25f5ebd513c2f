// Layer normalisation of rows, forward and backward (Ba et al., 2016): a warp for each row.
#include "rows.cuh"

extern "C" __global__ void layer_norm(const float* __restrict__ in, const float* __restrict__ gain,
                                      const float* __restrict__ bias, float* __restrict__ out,
                                      float2* __restrict__ moments, int count, int columns) {
  const int row = rows::of_warp();
  if (row >= count) return;
  float* to = out + row * columns;
  const float2 found = rows::normalise(in + row * columns, columns, [&](int x, float value) {
    to[x] = fmaf(value, gain[x], bias[x]);
  });
  if (threadIdx.x % 32 == 0) moments[row] = found;
}

extern "C" __global__ void layer_norm_backward(const float* __restrict__ in,
                                               const float* __restrict__ gain,
                                               const float2* __restrict__ moments,
                                               const float* __restrict__ d_out,
                                               float* __restrict__ d_in, int count, int columns) {
  const int row = rows::of_warp(), lane = threadIdx.x % 32;
  if (row >= count) return;
  const float2 found = moments[row];
  const float *from = in + row * columns, *change = d_out + row * columns;
  float total = 0, along = 0;
  for (int x = lane; x < columns; x += 32) {
    const float d = change[x] * gain[x];
    total += d;
    along = fmaf(d, (from[x] - found.x) * found.y, along);
  }
  total = rows::sum(total) / columns;
  along = rows::sum(along) / columns;
  for (int x = lane; x < columns; x += 32) {
    const float value = (from[x] - found.x) * found.y;
    d_in[row * columns + x] = found.y * (change[x] * gain[x] - total - value * along);
  }
}

// A thread for each column, rows in order.
extern "C" __global__ void layer_norm_parameters(const float* __restrict__ in,
                                                 const float2* __restrict__ moments,
                                                 const float* __restrict__ d_out,
                                                 float* __restrict__ d_gain,
                                                 float* __restrict__ d_bias, int count,
                                                 int columns) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= columns) return;
  float gain = 0, bias = 0;
  for (int row = 0; row < count; ++row) {
    const float2 found = moments[row];
    const float d = d_out[row * columns + x];
    gain = fmaf(d, (in[row * columns + x] - found.x) * found.y, gain);
    bias += d;
  }
  d_gain[x] = gain;
  d_bias[x] = bias;
}
