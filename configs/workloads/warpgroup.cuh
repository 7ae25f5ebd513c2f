// Products of warp groups and what kernels with them share.  Needs sm_90a.
#pragma once

#include <cuda_fp16.h>

#include "tensor_copies.cuh"
#include "warpgroup_registers.cuh"

namespace warpgroup {

// What this thread has written to shared memory is seen by products from now on.
__device__ __forceinline__ void publish() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// --- Registers of a warp, of which a block has as many as at its launch ---

template <unsigned count>
__device__ __forceinline__ void keep_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
}
template <unsigned count>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
}

// --- Products ---

// Rows of 128 bytes from `address` on, their pieces of 16 bytes swapped within 1024 bytes.
__device__ __forceinline__ unsigned long long descriptor(unsigned address) {
  constexpr unsigned long long swizzle_128 = 1ULL << 62, stride = 1024 / 16;
  return swizzle_128 | stride << 32 | address >> 4;
}
// 16 rows of 64 halves each, of which a product's columns are made: as above, and how far it is to
// the next 64 columns.
__device__ __forceinline__ unsigned long long descriptor_by_rows(unsigned address, unsigned apart) {
  return descriptor(address) | static_cast<unsigned long long>(apart / 16) << 16;
}
__device__ __forceinline__ void begin() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int newest>
__device__ __forceinline__ void wait_for_all_but() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(newest) : "memory");
}
// d = a * b + d, or a * b: 64 x 128 of f32 from 64 x 16 and 128 x 16 of f16, both by rows.
__device__ __forceinline__ void multiply(float (&d)[64], unsigned long long a, unsigned long long b,
                                         int accumulates) {
  asm volatile(
      "{\n"
      ".reg .pred adds;\n"
      "setp.ne.b32 adds, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {" NAMES_OF_64
      "}, %64, %65, adds, 1, 1, 0, 0;\n"
      "}"
      : SUMS_OF_64(d)
      : "l"(a), "l"(b), "r"(accumulates));
}

// d = a * b + d, or a * b: 64 x 128 of f32 from 64 x 32 and 128 x 32 of e4m3, both by rows.
__device__ __forceinline__ void multiply_e4m3(float (&d)[64], unsigned long long a,
                                              unsigned long long b, int accumulates) {
  asm volatile(
      "{\n"
      ".reg .pred adds;\n"
      "setp.ne.b32 adds, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 {" NAMES_OF_64
      "}, %64, %65, adds, 1, 1;\n"
      "}"
      : SUMS_OF_64(d)
      : "l"(a), "l"(b), "r"(accumulates));
}

// d = a * b + d, or a * b: 64 x 256 of f32 from 64 x 16 and 256 x 16 of f16, both by rows.
__device__ __forceinline__ void multiply(float (&d)[128], unsigned long long a,
                                         unsigned long long b, int accumulates) {
  asm volatile(
      "{\n"
      ".reg .pred adds;\n"
      "setp.ne.b32 adds, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {" NAMES_OF_128
      "}, %128, %129, adds, 1, 1, 0, 0;\n"
      "}"
      : SUMS_OF_128(d)
      : "l"(a), "l"(b), "r"(accumulates));
}

// d += a * b: 64 x n of f32 from 64 x 16 of f16 in registers and 16 x n by rows (columns of the
// product side by side), n = 64 or 128.
__device__ __forceinline__ void add_product(float (&d)[32], const unsigned (&a)[4],
                                            unsigned long long b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {" NAMES_OF_32
               "}, {%32, %33, %34, %35}, %36, 1, 1, 1, 1;"
               : SUMS_OF_32(d)
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
__device__ __forceinline__ void add_product(float (&d)[64], const unsigned (&a)[4],
                                            unsigned long long b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {" NAMES_OF_64
               "}, {%64, %65, %66, %67}, %68, 1, 1, 1, 1;"
               : SUMS_OF_64(d)
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

// d = a * b + d, or a * b: 64 x 256 of f32 from 64 x 8 and 256 x 8 of tf32, both by rows.
__device__ __forceinline__ void multiply_tf32(float (&d)[128], unsigned long long a,
                                              unsigned long long b, int accumulates) {
  asm volatile(
      "{\n"
      ".reg .pred adds;\n"
      "setp.ne.b32 adds, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 {" NAMES_OF_128
      "}, %128, %129, adds, 1, 1;\n"
      "}"
      : SUMS_OF_128(d)
      : "l"(a), "l"(b), "r"(accumulates));
}

}  // namespace warpgroup
