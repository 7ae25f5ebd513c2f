// Rows of matrices, a warp for each: sums and largest elements over its lanes.
#pragma once

namespace rows {

__device__ __forceinline__ float sum(float x) {
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) x += __shfl_xor_sync(0xffffffffu, x, apart);
  return x;
}
__device__ __forceinline__ float largest(float x) {
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, apart));
  return x;
}
__device__ __forceinline__ int of_warp() {
  return blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
}

// use(column, normalised element): mean 0, variance 1.  Returns the mean and 1 / deviation.
template <class Use>
__device__ __forceinline__ float2 normalise(const float* row, int columns, Use use) {
  const int lane = threadIdx.x % 32;
  float total = 0, squares = 0;
  for (int x = lane; x < columns; x += 32) total += row[x];
  const float mean = sum(total) / columns;
  for (int x = lane; x < columns; x += 32) {
    const float apart = row[x] - mean;
    squares = fmaf(apart, apart, squares);
  }
  const float scale = rsqrtf(sum(squares) / columns + 1e-5f);
  for (int x = lane; x < columns; x += 32) use(x, (row[x] - mean) * scale);
  return make_float2(mean, scale);
}

// 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), and what it is differentiated.
__device__ __forceinline__ float tanh_of(float x) {
  float result;
  asm("tanh.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
constexpr float gelu_scale = 0.7978845608f, gelu_cube = 0.044715f;
__device__ __forceinline__ float gelu(float x) {
  const float t = tanh_of(gelu_scale * fmaf(gelu_cube * x * x, x, x));
  return 0.5f * x * (1.0f + t);
}
__device__ __forceinline__ float gelu_slope(float x) {
  const float t = tanh_of(gelu_scale * fmaf(gelu_cube * x * x, x, x));
  const float inner = gelu_scale * fmaf(3.0f * gelu_cube * x, x, 1.0f);
  return 0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * inner;
}

}  // namespace rows
