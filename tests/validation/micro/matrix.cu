// Compile for: sm_80
// Cycles of products of matrices by one warp: of 128 that each add to the sums of the one before
// (name_latency), and that add to eight sums in turn (name_interval).
#include "chained.cuh"

template <class Product, int independent>
__device__ __forceinline__ void measure(long long* cycles, typename Product::Sum* sink) {
  typename Product::Sum d[independent][Product::sums] = {};
  typename Product::Side a[4], b[2];
  for (int i = 0; i < 4; ++i) a[i] = threadIdx.x + i;
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
    measure<name, 8>(cycles, sink);                                                \
  }

struct f16_k16 {
  using Sum = float;
  using Side = unsigned;
  static constexpr int sums = 4;
  static __device__ __forceinline__ void step(Sum* d, const Side* a, const Side* b) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
};
MEASURE(f16_k16)

struct f16_k8 {
  using Sum = float;
  using Side = unsigned;
  static constexpr int sums = 4;
  static __device__ __forceinline__ void step(Sum* d, const Side* a, const Side* b) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]));
  }
};
MEASURE(f16_k8)

struct bf16_k16 {
  using Sum = float;
  using Side = unsigned;
  static constexpr int sums = 4;
  static __device__ __forceinline__ void step(Sum* d, const Side* a, const Side* b) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
};
MEASURE(bf16_k16)

struct bf16_k8 {
  using Sum = float;
  using Side = unsigned;
  static constexpr int sums = 4;
  static __device__ __forceinline__ void step(Sum* d, const Side* a, const Side* b) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]));
  }
};
MEASURE(bf16_k8)

struct tf32_k8 {
  using Sum = float;
  using Side = unsigned;
  static constexpr int sums = 4;
  static __device__ __forceinline__ void step(Sum* d, const Side* a, const Side* b) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
};
MEASURE(tf32_k8)

struct tf32_k4 {
  using Sum = float;
  using Side = unsigned;
  static constexpr int sums = 4;
  static __device__ __forceinline__ void step(Sum* d, const Side* a, const Side* b) {
    asm volatile(
        "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 "
        "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]));
  }
};
MEASURE(tf32_k4)

struct s8_k32 {
  using Sum = int;
  using Side = unsigned;
  static constexpr int sums = 4;
  static __device__ __forceinline__ void step(Sum* d, const Side* a, const Side* b) {
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
};
MEASURE(s8_k32)

struct s8_k16 {
  using Sum = int;
  using Side = unsigned;
  static constexpr int sums = 4;
  static __device__ __forceinline__ void step(Sum* d, const Side* a, const Side* b) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 "
        "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]));
  }
};
MEASURE(s8_k16)

struct s8_m8 {
  using Sum = int;
  using Side = unsigned;
  static constexpr int sums = 2;
  static __device__ __forceinline__ void step(Sum* d, const Side* a, const Side* b) {
    asm volatile(
        "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 "
        "{%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+r"(d[0]), "+r"(d[1])
        : "r"(a[0]), "r"(b[0]));
  }
};
MEASURE(s8_m8)

struct s4_k64 {
  using Sum = int;
  using Side = unsigned;
  static constexpr int sums = 4;
  static __device__ __forceinline__ void step(Sum* d, const Side* a, const Side* b) {
    asm volatile(
        "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
};
MEASURE(s4_k64)

struct b1_k256 {
  using Sum = int;
  using Side = unsigned;
  static constexpr int sums = 4;
  static __device__ __forceinline__ void step(Sum* d, const Side* a, const Side* b) {
    asm volatile(
        "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
};
MEASURE(b1_k256)

struct f64_m8 {
  using Sum = double;
  using Side = double;
  static constexpr int sums = 2;
  static __device__ __forceinline__ void step(Sum* d, const Side* a, const Side* b) {
    asm volatile(
        "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 "
        "{%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(d[0]), "+d"(d[1])
        : "d"(a[0]), "d"(b[0]));
  }
};
MEASURE(f64_m8)

// ldmatrix, whose results are the addresses of the next.
template <int matrices>
__device__ __forceinline__ void load(unsigned (&r)[4], unsigned at) {
  if constexpr (matrices == 1)
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r[0]) : "r"(at));
  if constexpr (matrices == 2)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(at));
  if constexpr (matrices == 4)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at));
}
template <int matrices>
__device__ __forceinline__ void chain_of_loads(long long* cycles, unsigned* sink) {
  __shared__ __align__(128) unsigned short shared[4 * 64];
  const unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const unsigned start = base + threadIdx.x % (8 * matrices) * 16;
  for (int i = threadIdx.x; i < 256; i += 32) shared[i] = 0;
  __syncwarp();
  shared[threadIdx.x * 2] = start;  // what each lane gets of the first matrix
  __syncwarp();
  unsigned r[4] = {start};
  *cycles = cycles_of([&](int) { load<matrices>(r, r[0]); });
  sink[threadIdx.x] = r[0];
}
// Many warps load different matrices.
template <int matrices>
__device__ __forceinline__ void many_loads(long long* cycles, unsigned* sink) {
  __shared__ __align__(128) unsigned short shared[32 * 256];
  const unsigned start =
      static_cast<unsigned>(__cvta_generic_to_shared(shared)) + threadIdx.x % (8 * matrices) * 16;
  for (int i = threadIdx.x; i < 32 * 256; i += blockDim.x) shared[i] = i;
  __syncthreads();
  unsigned r[4], sum = 0;
  cycles[threadIdx.x / 32] = cycles_of<32, 4 * repeated>([&](int j) {
    load<matrices>(r, start + j * 512);
    sum += r[0];
  });
  sink[threadIdx.x % 32] = sum;
}

#define MEASURE_LOADS(matrices)                                                                   \
  extern "C" __global__ void ldmatrix_x##matrices##_latency(long long* cycles, unsigned* sink) {  \
    chain_of_loads<matrices>(cycles, sink);                                                       \
  }                                                                                               \
  extern "C" __global__ void ldmatrix_x##matrices##_interval(long long* cycles, unsigned* sink) { \
    many_loads<matrices>(cycles, sink);                                                           \
  }
MEASURE_LOADS(1)
MEASURE_LOADS(2)
MEASURE_LOADS(4)

// A copy of 16 bytes by one thread and the wait for it, over and over.
extern "C" __global__ void copy_latency(long long* cycles, unsigned* sink) {
  __shared__ __align__(16) unsigned shared[4];
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  *cycles = cycles_of([&](int) {
    asm volatile(
        "cp.async.cg.shared.global [%0], [%1], "
        "16;\n\tcp.async.commit_group;\n\tcp.async.wait_group 0;"
        :
        : "r"(to), "l"(sink)
        : "memory");
  });
}
