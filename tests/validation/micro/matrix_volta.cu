// Cycles of products of matrices by one warp: of 128 that each add to the sums of the one before
// (name_latency), and that add to four sums in turn (name_interval).
#include <cuda_fp16.h>
#include <mma.h>

#include "chained.cuh"

template <class Product, int independent>
__device__ __forceinline__ void measure(long long* cycles, typename Product::Sum* sink) {
  typename Product::Sum d[independent][Product::sums] = {};
  typename Product::Side a[2], b[2];
  for (int i = 0; i < 2; ++i) a[i] = threadIdx.x + i;
  for (int i = 0; i < 2; ++i) b[i] = threadIdx.x - i;
  const long long took = cycles_of([&](int j) { Product::step(d[j % independent], a, b); });
  typename Product::Sum sum = 0;
  for (int i = 0; i < independent; ++i)
    for (int r = 0; r < Product::sums; ++r) sum += d[i][r];
  sink[threadIdx.x] = sum;
  *cycles = took;
}

#define MEASURE(name)                                                              \
  extern "C" __global__ void name##_latency(long long* cycles, name::Sum* sink) {  \
    measure<name, 1>(cycles, sink);                                                \
  }                                                                                \
  extern "C" __global__ void name##_interval(long long* cycles, name::Sum* sink) { \
    measure<name, 4>(cycles, sink);                                                \
  }

struct f16_volta {
  using Sum = float;
  using Side = unsigned;
  static constexpr int sums = 8;
  static __device__ __forceinline__ void step(Sum* d, const Side* a, const Side* b) {
    asm volatile(
        "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9}, {%10, %11}, {%0, %1, %2, %3, %4, %5, %6, %7};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
          "+f"(d[7])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]));
  }
};
MEASURE(f16_volta)

// wmma 16 x 16 x 16 of f16, sums f32.
template <int independent>
__device__ __forceinline__ void measure_wmma(long long* cycles, float* sink) {
  using namespace nvcuda;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> d[independent];
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> b;
  for (int i = 0; i < independent; ++i) wmma::fill_fragment(d[i], 0.0f);
  wmma::fill_fragment(a, __float2half_rn(1.0f));
  wmma::fill_fragment(b, __float2half_rn(0.5f));
  *cycles = cycles_of([&](int j) {
    auto& sums = d[j % independent];
    wmma::mma_sync(sums, a, b, sums);
  });
  float sum = 0;
  for (int i = 0; i < independent; ++i)
    for (int r = 0; r < 8; ++r) sum += d[i].x[r];
  sink[threadIdx.x] = sum;
}
extern "C" __global__ void wmma_latency(long long* cycles, float* sink) {
  measure_wmma<1>(cycles, sink);
}
extern "C" __global__ void wmma_interval(long long* cycles, float* sink) {
  measure_wmma<4>(cycles, sink);
}
