// Latency of operations: one thread runs a chain in which each needs the result of the one before, and writes what
// `chained` of them took.  Inline PTX, so that neither compiler folds or reorders the chain.
constexpr int chained = 128;
// Of operations that become many instructions fewer stand in a row: a chain must fit into the instruction cache (12 KiB).
constexpr int few = 16, many = 64;

template <int unrolled, class T, class Step>
__device__ __forceinline__ void chain(long long* cycles, T* sink, T x, T y, Step step) {
  long long took = 0;
  for (int pass = 0; pass < 2; ++pass) {  // the first one warms up
    const long long start = clock64();
#pragma unroll 1
    for (int i = 0; i < chained / unrolled; ++i) {
#pragma unroll
      for (int j = 0; j < unrolled; ++j) step(x, y);
    }
    took = clock64() - start;
  }
  *sink = x;
  *cycles = took;
}

#define OPERATION(name, unrolled, type, register, text)                                   \
  extern "C" __global__ void name(long long* cycles, type* sink, type x, type y) {       \
    chain<unrolled>(cycles, sink, x, y,                                                   \
          [](type& a, type b) { asm volatile(text : "+" register(a) : register(b)); });   \
  }

OPERATION(add_s32, many, int, "r", "add.s32 %0, %0, %1;")
OPERATION(fma_f32, many, float, "f", "fma.rn.f32 %0, %0, %1, %1;")
OPERATION(fma_f64, many, double, "d", "fma.rn.f64 %0, %0, %1, %1;")
OPERATION(ex2_f32, many, float, "f", "ex2.approx.ftz.f32 %0, %0;")
OPERATION(fma_f16, many, unsigned, "r", "fma.rn.f16x2 %0, %0, %1, %1;")
OPERATION(popc_b32, many, int, "r", "popc.b32 %0, %0;")
OPERATION(brev_b32, many, int, "r", "brev.b32 %0, %0;")
OPERATION(mul_hi_s32, many, int, "r", "mul.hi.s32 %0, %0, %1;")
OPERATION(div_s32, few, int, "r", "div.s32 %0, %1, %0;")
// By 1.000001, of a sum with 0.1, to an integer and back, and one of two sums by a comparison with 0.5.
OPERATION(div_constant_f32, few, float, "f", "div.rn.f32 %0, %0, 0f3F800008;")
OPERATION(sqrt_sum_f32, few, float, "f", "add.f32 %0, %0, 0f3DCCCCCD; sqrt.rn.f32 %0, %0;")
OPERATION(cvt_f32, few, float, "f", "{.reg .s32 t; cvt.rzi.s32.f32 t, %0; cvt.rn.f32.s32 %0, t;}")
OPERATION(select_f32, few, float, "f",
          "{.reg .pred p; .reg .f32 t; setp.gt.f32 p, %0, 0f3F000000; selp.f32 t, 0f3DCCCCCD, 0fBDCCCCCD, p;"
          " add.f32 %0, %0, t;}")
OPERATION(div_rn_f64, few, double, "d", "div.rn.f64 %0, %0, %1;")

// The same for loads of shared memory, whose values are the addresses of the next.
extern "C" __global__ void load_shared(long long* cycles, int* sink, int at, int) {
  __shared__ int words[32];
  words[threadIdx.x] = static_cast<int>(__cvta_generic_to_shared(&words[(threadIdx.x + 1) % 32]));
  __syncthreads();
  chain<many>(cycles, sink, words[at], 0,
        [](int& a, int) { asm volatile("ld.volatile.shared.s32 %0, [%0];" : "+r"(a) : : "memory"); });
}
