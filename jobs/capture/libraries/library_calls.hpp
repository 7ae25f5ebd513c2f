/// Replacements of CUDA's linear algebra libraries for captured programs: their common part. They
/// launch Lockstep's own kernels, shipped as PTX, through the driver's library, so that a recording
/// names them.  The code is in libcublasLt, and libcublas calls it there.
#pragma once

#include <cstdint>

#include "jobs/capture/libraries/numbering.hpp"

namespace lockstep::capture {

/// Kernels' parameter: gemm.cuh.
struct Gemm {
  const void *a = nullptr, *b = nullptr, *c = nullptr;
  void* d = nullptr;
  const float *alpha_at = nullptr, *beta_at = nullptr;
  const void* bias = nullptr;
  void* aux = nullptr;
  std::int64_t a_stride = 0, b_stride = 0, c_stride = 0, d_stride = 0, bias_stride = 0,
               aux_stride = 0;
  int m = 0, n = 0, k = 0;
  int a_column = 0, b_column = 0, c_column = 0, d_column = 0, aux_column = 0;
  int a_turned = 0, b_turned = 0;
  int a_aligned = 0, b_aligned = 0;  ///< alignments, set by the launch
  int epilogue = 0, bias_kind = 0, aux_kind = 0;
  float alpha = 1, beta = 0;
};
static_assert(sizeof(Gemm) == 184);

/// Kernel's parameter: bias_gradient.cu.
struct BiasGradient {
  const void* from = nullptr;
  void* to = nullptr;
  std::int64_t across = 0, along = 0, from_stride = 0, to_stride = 0;
  int sums = 0, addends = 0, from_kind = 0, to_kind = 0;
};
static_assert(sizeof(BiasGradient) == 64);

}  // namespace lockstep::capture

extern "C" {
/// Launches `batch` products in a stream; returns false if the driver refuses. f16, bf16 and tf32
/// use matrix instructions where the GPU has them (compute capability 8.0); f16 and bf16 use those
/// of warp groups (9.0) where tiles of the operands can be copied.  Sums are in f32.  Precondition:
/// `to` is `from` or f32.
bool lockstep_launch_gemm(const lockstep::capture::Gemm* gemm, lockstep::capture::Element from,
                          lockstep::capture::Element to, int batch, void* stream);
/// Launches sums over rows or columns of `batch` matrices.
bool lockstep_launch_bias_gradient(const lockstep::capture::BiasGradient* gradient, int batch,
                                   void* stream);
/// Prints one line: the entry, what it lacks, and advice.
void lockstep_say_lacking(const char* entry, const char* what, const char* advice);
}
