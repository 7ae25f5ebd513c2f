// What kernels measure that repeat an operation: cycles of `repeated` of them, in the second of two
// passes.
#pragma once

constexpr int repeated = 128;

// `unrolled`: of them in a row; `count`: if not `repeated`.
template <int unrolled = repeated, int count = repeated, class Step>
__device__ __forceinline__ long long cycles_of(Step step) {
  long long took = 0;
  for (int pass = 0; pass < 2; ++pass) {  // the first one warms up
    __syncthreads();
    const long long start = clock64();
#pragma unroll 1
    for (int i = 0; i < count / unrolled; ++i) {
#pragma unroll
      for (int j = 0; j < unrolled; ++j) step(j);
    }
    took = clock64() - start;
  }
  return took;
}
