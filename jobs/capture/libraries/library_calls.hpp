/// Replacements of CUDA's linear algebra libraries for captured programs: what they have in common.
/// They launch kernels of our own, shipped as PTX, through the driver's library, so that a
/// recording names them.
#pragma once

#include <cstdint>

namespace lockstep::capture {

/// Kernels' parameter: gemm.cuh.
struct Gemm {
  const void *a = nullptr, *b = nullptr;
  void* c = nullptr;
  const float *alpha_at = nullptr, *beta_at = nullptr;
  std::int64_t a_stride = 0, b_stride = 0, c_stride = 0;
  int m = 0, n = 0, k = 0;
  int a_column = 0, b_column = 0, c_column = 0;
  int a_turned = 0, b_turned = 0;
  float alpha = 1, beta = 0;
};
static_assert(sizeof(Gemm) == 104);

/// Elements that the kernels know.
enum class Element : std::uint8_t { f32, f16, bf16 };

/// Launches the product, `batch` of them, in a stream; returns false if the driver refuses.
/// f16 and bf16 go to matrix instructions where the GPU has them (compute capability 8.0), and are
/// summed in f32 everywhere.  Precondition: `to` is `from` or f32.
bool launch_gemm(const Gemm& gemm, Element from, Element to, int batch, void* stream);

/// Writes one line: which entry lacks what, and what to do.
void say_lacking(const char* entry, const char* what, const char* advice);

}  // namespace lockstep::capture
