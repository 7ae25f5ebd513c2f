// D = epilogue(alpha op(A) op(B) + beta C) of column-major matrices, as the linear algebra libraries of captured
// programs ask for.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

enum Kind : int { f32, f16, bf16 };
enum Epilogue : int { relu = 2, add_bias = 4, gelu = 32, gelu_gradient = 64, keep_input = 128 };

struct Gemm {
  const void *a, *b, *c;
  void* d;
  const float *alpha_at, *beta_at;  // on the device; null: the values below
  const void* bias;                 // a number for each row
  void* aux;                        // of the GELU: its input
  long long a_stride, b_stride, c_stride, d_stride, bias_stride, aux_stride;  // elements from one product to the next
  int m, n, k;
  int a_column, b_column, c_column, d_column, aux_column;  // elements from one column to the next
  int a_turned, b_turned;                                  // op is the transposition
  int a_aligned, b_aligned;                                // every eight elements that follow one another start a piece of 16 bytes
  int epilogue, bias_kind, aux_kind;
  float alpha, beta;
};

__device__ inline float number(float x) { return x; }
__device__ inline float number(__half x) { return __half2float(x); }
__device__ inline float number(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ inline void put(float& to, float x) { to = x; }
__device__ inline void put(__half& to, float x) { to = __float2half_rn(x); }
__device__ inline void put(__nv_bfloat16& to, float x) { to = __float2bfloat16_rn(x); }

__device__ inline float number_at(const void* from, long long i, int kind) {
  return kind == f32 ? ((const float*)from)[i] : kind == f16 ? number(((const __half*)from)[i]) : number(((const __nv_bfloat16*)from)[i]);
}
__device__ inline void put_at(void* to, long long i, int kind, float x) {
  if (kind == f32) ((float*)to)[i] = x;
  else if (kind == f16) put(((__half*)to)[i], x);
  else put(((__nv_bfloat16*)to)[i], x);
}

// GELU by tanh: u = sqrt(2 / pi) (x + 0.044715 x^3).
__device__ inline float tanh_of_gelu(float x) { return tanhf(0.7978845608f * (x + 0.044715f * x * x * x)); }
__device__ inline float gelu_of(float x) { return 0.5f * x * (1.0f + tanh_of_gelu(x)); }
__device__ inline float gelu_slope(float x) {
  const float t = tanh_of_gelu(x);
  return 0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * 0.7978845608f * (1.0f + 3.0f * 0.044715f * x * x);
}

__device__ inline float finish(const Gemm& g, int row, int column, float x) {
  if (g.epilogue & add_bias) x += number_at(g.bias, row + blockIdx.z * g.bias_stride, g.bias_kind);
  if (g.epilogue & keep_input) {
    const long long place = blockIdx.z * g.aux_stride + row + (long long)column * g.aux_column;
    if (g.epilogue & gelu_gradient) return x * gelu_slope(number_at(g.aux, place, g.aux_kind));
    put_at(g.aux, place, g.aux_kind, x);
  }
  if (g.epilogue & relu) x = fmaxf(x, 0.0f);
  if (g.epilogue & gelu) x = gelu_of(x);
  return x;
}

constexpr int tile = 64;  // rows and columns of D that a block computes
using Sums = float[tile][tile + 4];  // columns of sums, in shared memory

// Writes D from the sums, along its columns, by so many threads.
template <class Out, int threads>
__device__ void write(const Gemm& g, int first_row, int first_column, const Sums& sums, int thread = threadIdx.x) {
  const float alpha = g.alpha_at ? *g.alpha_at : g.alpha, beta = g.beta_at ? *g.beta_at : g.beta;
#pragma unroll 1
  for (int i = thread; i < tile * tile; i += threads) {
    const int row = first_row + i % tile, column = first_column + i / tile;
    if (row >= g.m || column >= g.n) continue;
    float x = alpha * sums[i / tile][i % tile];
    if (beta != 0.0f) x += beta * number(((const Out*)g.c)[blockIdx.z * g.c_stride + row + (long long)column * g.c_column]);
    put(((Out*)g.d)[blockIdx.z * g.d_stride + row + (long long)column * g.d_column], finish(g, row, column, x));
  }
}
