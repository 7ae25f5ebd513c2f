// What kernels with matrix instructions share: copies, fragments, and the tile of a matrix product.
// Needs sm_80.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace tiles {

// use(0), use(1), ..., use(count - 1), each number known to the compiler.
template <int number>
struct Number {
  static constexpr int value = number;
};
template <int count, int first = 0, class Use>
__device__ __forceinline__ void for_each(Use use) {
  if constexpr (first < count) {
    use(Number<first>{});
    for_each<count, first + 1>(use);
  }
}

__device__ __forceinline__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// --- Asynchronous copies of 16 bytes ---

template <int offset = 0>
__device__ __forceinline__ void copy_16(unsigned to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0 + %2], [%1], 16;" ::"r"(to), "l"(from), "n"(offset)
               : "memory");
}
__device__ __forceinline__ void commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int newest>
__device__ __forceinline__ void wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(newest) : "memory");
}

// --- Fragments ---

// `offset`: bytes behind `row`.
template <int offset = 0>
__device__ __forceinline__ void load_matrices(unsigned (&r)[4], unsigned row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4 + %5];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(row), "n"(offset)
               : "memory");
}
template <int offset = 0>
__device__ __forceinline__ void load_transposed(unsigned (&r)[4], unsigned row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4 + %5];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(row), "n"(offset)
               : "memory");
}

// Where a piece of 16 bytes of a row of 128 bytes stands: swapped so that the same piece of eight
// rows lies in all banks.
__device__ __forceinline__ unsigned place(int row, int piece) {
  return row * 128 + ((piece ^ (row & 7)) << 4);
}

// Element types: 32 bytes of K are one product m16n8.
#define TILES_PRODUCT(name, element, sum, four, letter, form)                               \
  struct name {                                                                             \
    using Element = element;                                                                \
    using Sum = sum;                                                                        \
    using Four = four;                                                                      \
    static __device__ __forceinline__ void multiply(Sum (&d)[4], const unsigned (&a)[4],    \
                                                    unsigned b0, unsigned b1) {             \
      asm volatile("mma.sync.aligned." form                                                 \
                   " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"       \
                   : "+" letter(d[0]), "+" letter(d[1]), "+" letter(d[2]), "+" letter(d[3]) \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));         \
    }                                                                                       \
  };
TILES_PRODUCT(F16, __half, float, float4, "f", "m16n8k16.row.col.f32.f16.f16.f32")
TILES_PRODUCT(BF16, __nv_bfloat16, float, float4, "f", "m16n8k16.row.col.f32.bf16.bf16.f32")
TILES_PRODUCT(TF32, float, float, float4, "f", "m16n8k8.row.col.f32.tf32.tf32.f32")
TILES_PRODUCT(S8, signed char, int, int4, "r", "m16n8k32.row.col.s32.s8.s8.s32")
#undef TILES_PRODUCT

// --- A tile of C = A * B^T: A is m x k, B is n x k, both by rows ---
//
// Rows come in steps of 128 bytes, by asynchronous copies, two of them ahead.
template <class Product, int rows, int columns, int warp_rows, int warp_columns>
struct Tile {
  using Element = typename Product::Element;
  using Sum = typename Product::Sum;
  static constexpr int step_bytes = 128, step = step_bytes / sizeof(Element);
  static constexpr int warps_across = columns / warp_columns;
  static constexpr int threads = 32 * (rows / warp_rows) * warps_across;
  static constexpr int stage_bytes = (rows + columns) * step_bytes;
  static constexpr int stages = 2, shared_bytes = stages * stage_bytes;
  static constexpr int down = warp_rows / 16, across = warp_columns / 8;  // products of a warp

  struct Fragments {
    unsigned a[down][4], b[across / 2][4];
  };
  Sum sum[down][across][4];

  // The copies of one thread, in a row of every `threads / 8`.
  struct Source {
    const char *a, *b, *from;
    size_t apart;
    unsigned to;

    __device__ __forceinline__ Source(const Element* a_rows, const Element* b_rows, int k,
                                      unsigned shared) {
      const int row = threadIdx.x / 8, piece = threadIdx.x % 8;
      const size_t pitch = static_cast<size_t>(k) * sizeof(Element);
      apart = pitch * (threads / 8);
      a = reinterpret_cast<const char*>(a_rows) + row * pitch + piece * 16;
      b = reinterpret_cast<const char*>(b_rows) + row * pitch + piece * 16;
      to = shared + place(row, piece);
    }
    // A share of a step's copies, in order of shares; the last one goes on to the next step.
    template <int share, int shares>
    __device__ __forceinline__ void fetch(unsigned stage) {
      constexpr int of_a = rows / (threads / 8), all = (rows + columns) / (threads / 8);
      constexpr int first = all * share / shares, end = all * (share + 1) / shares;
      for_each<end, first>([&](auto i) {
        if constexpr (i.value == 0) from = a;
        if constexpr (i.value == of_a) from = b;
        copy_16<threads / 8 * step_bytes * i.value>(to + stage, from);
        from += apart;
      });
      if constexpr (share + 1 == shares) {
        a += step_bytes;
        b += step_bytes;
      }
    }
  };

  static __device__ __forceinline__ void load(Fragments& to, unsigned a, unsigned b) {
    for_each<down>([&](auto i) { load_matrices<i.value * 16 * step_bytes>(to.a[i.value], a); });
    for_each<across / 2>(
        [&](auto j) { load_matrices<j.value * 16 * step_bytes>(to.b[j.value], b); });
  }
  __device__ __forceinline__ void multiply(const Fragments& from) {
#pragma unroll
    for (int i = 0; i < down; ++i)
#pragma unroll
      for (int j = 0; j < across; ++j)
        Product::multiply(sum[i][j], from.a[i], from.b[j / 2][j % 2 * 2],
                          from.b[j / 2][j % 2 * 2 + 1]);
  }

  // a_rows, b_rows: where the tile's first rows begin; k: a multiple of `step`; memory: the stages.
  __device__ __forceinline__ void run(const Element* a_rows, const Element* b_rows, int k,
                                      const void* memory) {
    const unsigned shared = shared_address(memory);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    Source source(a_rows, b_rows, k, shared);
#pragma unroll
    for (int i = 0; i < down; ++i)
#pragma unroll
      for (int j = 0; j < across; ++j)
#pragma unroll
        for (int r = 0; r < 4; ++r) sum[i][j][r] = 0;
    // Lanes name rows: of A 16, then their next 16 bytes; of B 8, their next 16 bytes, then 8 more.
    const int a_row = warp / warps_across * warp_rows + lane % 16;
    const int b_row = warp % warps_across * warp_columns + lane % 8 + lane / 16 * 8;
    const unsigned a = shared + place(a_row, lane / 16);
    const unsigned b = shared + rows * step_bytes + place(b_row, lane / 8 % 2);

    // Step s is filled again, with step s + stages, as soon as its fragments are in registers: in
    // shares, so that loads of fragments find their way between them.
    constexpr int shares = 3;
    const int steps = k / step;
    for (int s = 0; s < stages; ++s) {
      if (s < steps) source.template fetch<0, 1>(s * stage_bytes);
      commit();
    }
    wait<stages - 1>();
    __syncthreads();
    Fragments fragments[2];
    load(fragments[0], a, b);
    unsigned stage = 0, filled = 0;
    bool fill = false;
#pragma unroll 1
    for (int s = 0; s < steps; ++s) {
      for_each<4>([&](auto part) {
        constexpr int i = part.value, share = (i + 1) % 4;
        if constexpr (i == 3) {
          wait<stages - 2>();
          __syncthreads();
          fill = s + stages < steps;
          filled = stage;
          stage = stage == (stages - 1) * stage_bytes ? 0 : stage + stage_bytes;
        }
        const unsigned next = (i + 1) % 4 * 32;
        load(fragments[(i + 1) % 2], (a ^ next) + stage, (b ^ next) + stage);
        if constexpr (share < shares)
          if (fill) source.template fetch<share, shares>(filled);
        if constexpr (share + 1 == shares) commit();
        multiply(fragments[i % 2]);
      });
    }
    wait<0>();
    __syncthreads();
  }

  // For each pair of neighbouring sums: use(row, column, first, second), places in the tile.
  template <class Use>
  __device__ __forceinline__ void for_each_pair(Use use) const {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int row = warp / warps_across * warp_rows + lane / 4;
    const int column = warp % warps_across * warp_columns + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < down; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int j = 0; j < across; ++j)
          use(row + 16 * i + 8 * half, column + 8 * j, sum[i][j][2 * half],
              sum[i][j][2 * half + 1]);
  }

  // For each four neighbouring sums, those of a row by neighbouring lanes: use(row, column, four).
  // They go through shared memory, 16 rows of a warp at a time.
  template <class Use>
  __device__ __forceinline__ void for_each_four(char* memory, Use use) const {
    constexpr int pitch = warp_columns * 4, lanes = warp_columns / 4;  // of a row
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    char* mine = memory + warp * 16 * pitch;
    const int first_row = warp / warps_across * warp_rows;
    const int first_column = warp % warps_across * warp_columns;
#pragma unroll
    for (int i = 0; i < down; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int j = 0; j < across; ++j) {
          const int row = 8 * half + lane / 4, piece = (2 * j + lane % 4 / 2) ^ (row & 7);
          struct alignas(8) Pair {
            Sum first, second;
          };
          *reinterpret_cast<Pair*>(mine + row * pitch + piece * 16 + lane % 2 * 8) = {
              sum[i][j][2 * half], sum[i][j][2 * half + 1]};
        }
      __syncwarp();
#pragma unroll
      for (int row = lane / lanes; row < 16; row += 32 / lanes) {
        const int piece = lane % lanes;
        use(first_row + 16 * i + row, first_column + 4 * piece,
            *reinterpret_cast<const typename Product::Four*>(mine + row * pitch +
                                                             ((piece ^ (row & 7)) << 4)));
      }
      __syncwarp();
    }
  }
};

}  // namespace tiles
