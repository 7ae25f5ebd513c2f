// Products by matrix instructions, of f16, bf16 and tf32, with f32 sums.  nvcc -arch=sm_80 -ptx gemm_mma.cu
#include "gemm.cuh"

constexpr int threads = 128;

__device__ inline unsigned shared_address(const void* pointer) { return (unsigned)__cvta_generic_to_shared(pointer); }

// An operand's tile: 64 numbers across, `depth` of them along K, which are 64 bytes.  It stands in shared memory as it
// does in global memory: K along a row, or across it.
template <class In>
struct Tile {
  static constexpr int depth = 64 / sizeof(In), piece = 16 / sizeof(In);
  static constexpr int along_pitch = depth + piece, across_pitch = tile + 32 / sizeof(In);
  In at[tile * along_pitch];
};

struct Operand {
  const void* from;
  int first, across_end, along_end, column;
  bool along_first, aligned;
};

// Two pieces of 16 bytes a thread; zero outside.
template <class In>
__device__ void fetch(Tile<In>& to, const Operand& o, int k) {
  using T = Tile<In>;
  const int pieces = o.along_first ? T::depth / T::piece : tile / T::piece;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int which = threadIdx.x + i * threads, row = which / pieces, at = which % pieces * T::piece;
    const int across = o.first + (o.along_first ? row : at), along = k + (o.along_first ? at : row);
    const int inside = o.along_first ? (across < o.across_end ? o.along_end - along : 0) : (along < o.along_end ? o.across_end - across : 0);
    const int valid = min(max(inside, 0), T::piece);
    const In* from = (const In*)o.from;
    if (valid) from += o.along_first ? along + (long long)across * o.column : across + (long long)along * o.column;
    In* place = to.at + row * (o.along_first ? T::along_pitch : T::across_pitch) + at;
    if (o.aligned) {
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(place)), "l"(from), "r"(valid * (int)sizeof(In)) : "memory");
    } else {
#pragma unroll 1
      for (int e = 0; e < T::piece; ++e) place[e] = e < valid ? from[e] : In(0.0f);
    }
  }
}

__device__ inline void load_matrices(unsigned (&r)[4], unsigned at, bool transposed) {
  if (transposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
}
__device__ inline unsigned tf32(float x) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return bits;
}

// Registers of 16 numbers across and 32 bytes along K, from (across, along) on.  `first_across`: registers 0 and 1 are
// eight numbers apart across (of A), otherwise registers 0 and 2 (of B, two products beside each other).
template <class In>
__device__ void load(unsigned (&r)[4], const Tile<In>& from, int across, int along, bool along_first, bool first_across) {
  using T = Tile<In>;
  const int lane = threadIdx.x % 32;
  if constexpr (sizeof(In) == 2) {
    const int matrix = lane / 8, across_half = first_across ? matrix % 2 : matrix / 2, along_half = first_across ? matrix / 2 : matrix % 2;
    const int a = across + 8 * across_half + (along_first ? lane % 8 : 0), k = along + 8 * along_half + (along_first ? 0 : lane % 8);
    load_matrices(r, shared_address(from.at + (along_first ? a * T::along_pitch + k : k * T::across_pitch + a)), !along_first);
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int a = across + lane / 4 + 8 * (first_across ? i % 2 : i / 2), k = along + lane % 4 + 4 * (first_across ? i / 2 : i % 2);
      r[i] = tf32(from.at[along_first ? a * T::along_pitch + k : k * T::across_pitch + a]);
    }
  }
}

#define LOCKSTEP_MMA(element, form)                                                                                          \
  __device__ inline void mma(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1, element) {                      \
    asm volatile("mma.sync.aligned." form " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                            \
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                                             \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));                                             \
  }
LOCKSTEP_MMA(__half, "m16n8k16.row.col.f32.f16.f16.f32")
LOCKSTEP_MMA(__nv_bfloat16, "m16n8k16.row.col.f32.bf16.bf16.f32")
LOCKSTEP_MMA(float, "m16n8k8.row.col.f32.tf32.tf32.f32")

template <class In>
union Shared {
  struct { Tile<In> a, b; } stages[2];
  Sums sums;
  __device__ Shared() {}
};

// A warp computes 32 x 32 of a block's elements; the next tiles come while these are multiplied.
template <class In, class Out>
__device__ void multiply(const Gemm& g) {
  __shared__ __align__(16) char memory[sizeof(Shared<In>)];
  auto& shared = *(Shared<In>*)memory;
  const int first_row = blockIdx.x * tile, first_column = blockIdx.y * tile;
  const Operand a{(const In*)g.a + blockIdx.z * g.a_stride, first_row, g.m, g.k, g.a_column, g.a_turned != 0, g.a_aligned != 0};
  const Operand b{(const In*)g.b + blockIdx.z * g.b_stride, first_column, g.n, g.k, g.b_column, g.b_turned == 0, g.b_aligned != 0};
  const int warp = threadIdx.x / 32, warp_row = warp % 2 * 32, warp_column = warp / 2 * 32;
  float sum[2][4][4] = {};
  const auto fetch_both = [&](int stage, int k) {
    fetch(shared.stages[stage].a, a, k);
    fetch(shared.stages[stage].b, b, k);
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  fetch_both(0, 0);
#pragma unroll 1
  for (int k = 0, stage = 0; k < g.k; k += Tile<In>::depth, stage ^= 1) {
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    if (k + Tile<In>::depth < g.k) fetch_both(stage ^ 1, k + Tile<In>::depth);
#pragma unroll
    for (int step = 0; step < Tile<In>::depth; step += Tile<In>::depth / 2) {
      unsigned left[2][4], right[2][4];
#pragma unroll
      for (int i = 0; i < 2; ++i) load(left[i], shared.stages[stage].a, warp_row + 16 * i, step, a.along_first, true);
#pragma unroll
      for (int j = 0; j < 2; ++j) load(right[j], shared.stages[stage].b, warp_column + 16 * j, step, b.along_first, false);
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) mma(sum[i][j], left[i], right[j / 2][j % 2 * 2], right[j / 2][j % 2 * 2 + 1], In(0.0f));
    }
  }
  asm volatile("cp.async.wait_group 0;" ::: "memory");  // of a product without K
  __syncthreads();
  const int group = threadIdx.x % 32 / 4, member = threadIdx.x % 4;
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int r = 0; r < 4; ++r)
        shared.sums[warp_column + 8 * j + 2 * member + r % 2][warp_row + 16 * i + group + 8 * (r / 2)] = sum[i][j][r];
  __syncthreads();
  write<Out, threads>(g, first_row, first_column, shared.sums);
}

extern "C" __global__ void __launch_bounds__(threads) gemm_mma_f16_f32(const __grid_constant__ Gemm g) { multiply<__half, float>(g); }
extern "C" __global__ void __launch_bounds__(threads) gemm_mma_f16_f16(const __grid_constant__ Gemm g) { multiply<__half, __half>(g); }
extern "C" __global__ void __launch_bounds__(threads) gemm_mma_bf16_f32(const __grid_constant__ Gemm g) { multiply<__nv_bfloat16, float>(g); }
extern "C" __global__ void __launch_bounds__(threads) gemm_mma_bf16_bf16(const __grid_constant__ Gemm g) { multiply<__nv_bfloat16, __nv_bfloat16>(g); }
extern "C" __global__ void __launch_bounds__(threads) gemm_mma_tf32_f32(const __grid_constant__ Gemm g) { multiply<float, float>(g); }
