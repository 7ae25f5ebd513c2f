// The activation GELU by its tanh (Hendrycks and Gimpel, 2016), forward and backward: four elements
// a thread.
#include "rows.cuh"

extern "C" __global__ void gelu(const float4* __restrict__ in, float4* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 x = in[i];
  out[i] = make_float4(rows::gelu(x.x), rows::gelu(x.y), rows::gelu(x.z), rows::gelu(x.w));
}
extern "C" __global__ void gelu_backward(const float4* __restrict__ in,
                                         const float4* __restrict__ d_out,
                                         float4* __restrict__ d_in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 x = in[i], d = d_out[i];
  d_in[i] = make_float4(d.x * rows::gelu_slope(x.x), d.y * rows::gelu_slope(x.y),
                        d.z * rows::gelu_slope(x.z), d.w * rows::gelu_slope(x.w));
}
