// C = alpha op(A) op(B) + beta C of column-major matrices, as the linear algebra libraries of captured programs ask for.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

struct Gemm {
  const void *a, *b;
  void* c;
  const float *alpha_at, *beta_at;        // on the device; null: the values below
  long long a_stride, b_stride, c_stride; // elements from one product of a batch to the next
  int m, n, k;
  int a_column, b_column, c_column;       // elements from one column to the next
  int a_turned, b_turned;                 // op is the transposition
  float alpha, beta;
};

__device__ inline float number(float x) { return x; }
__device__ inline float number(__half x) { return __half2float(x); }
__device__ inline float number(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ inline void put(float& to, float x) { to = x; }
__device__ inline void put(__half& to, float x) { to = __float2half_rn(x); }
__device__ inline void put(__nv_bfloat16& to, float x) { to = __float2bfloat16_rn(x); }

// Element (row, k) of op(A), or (column, k) of the transposition of op(B); zero outside.
template <class In>
__device__ In element(const In* from, int across, int along, int across_end, int along_end, int column, bool along_first) {
  if (across >= across_end || along >= along_end) return In(0.0f);
  return from[along_first ? along + (long long)across * column : across + (long long)along * column];
}

template <class Out>
__device__ void write(const Gemm& g, int row, int column, float sum) {
  if (row >= g.m || column >= g.n) return;
  Out& to = ((Out*)g.c)[blockIdx.z * g.c_stride + row + (long long)column * g.c_column];
  const float alpha = g.alpha_at ? *g.alpha_at : g.alpha, beta = g.beta_at ? *g.beta_at : g.beta;
  put(to, beta == 0.0f ? alpha * sum : fmaf(alpha, sum, beta * number(to)));
}
