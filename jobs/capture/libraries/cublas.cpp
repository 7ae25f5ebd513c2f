/// libcublas of captured programs: handles, Sgemm, GemmEx and their strided batches, by kernels of
/// our own.  Sums are in f32.  The mathematical mode decides whether products of f32 are of tf32.
///
/// Enumerators have the numbers that cuBLAS 13 documents.
#include <cstddef>

#include "jobs/capture/libraries/library_calls.hpp"

// NOLINTBEGIN(cppcoreguidelines-macro-usage)
#define LOCKSTEP_CUBLAS extern "C" __attribute__((visibility("default")))
// NOLINTEND(cppcoreguidelines-macro-usage)

namespace lockstep::capture {
namespace {

enum DataType : int { r_32f = 0 };
constexpr int tf32_math = 3;

struct Handle {
  void* stream = nullptr;
  int pointer_mode = 0;  ///< 1: scalars are in the GPU's memory
  int math_mode = 0, atomics_mode = 0;
};

/// A product as the entries are given it.
struct Request {
  const char* entry;
  Handle* handle;
  int a_operation, b_operation;
  int m, n, k;
  const void *alpha, *a;
  int a_type, a_column;
  std::int64_t a_stride;
  const void* b;
  int b_type, b_column;
  std::int64_t b_stride;
  const void* beta;
  void* c;
  int c_type, c_column;
  std::int64_t c_stride;
  int batch;
  int compute = in_32f;
};

int at_least_one(int rows) {
  return rows > 1 ? rows : 1;
}
bool is_valid(const Request& r) {
  const auto exists = [](int operation) { return operation >= plain && operation <= conjugated; };
  if (!exists(r.a_operation) || !exists(r.b_operation)) return false;
  if (r.m < 0 || r.n < 0 || r.k < 0 || r.batch < 0 || !r.alpha || !r.beta) return false;
  return r.a_column >= at_least_one(r.a_operation == plain ? r.m : r.k) &&
         r.b_column >= at_least_one(r.b_operation == plain ? r.k : r.n) &&
         r.c_column >= at_least_one(r.m);
}

Status multiply(const Request& r) {
  if (!r.handle) return not_initialized;
  if (!is_valid(r)) return invalid_value;
  if (!sums_in_f32(r.compute)) {
    lockstep_say_lacking(r.entry, "sums are in f32 only", "use CUBLAS_COMPUTE_32F");
    return lacking;
  }
  Element from{}, right{}, to{};
  const bool types =
      known_type(r.a_type, from) && known_type(r.b_type, right) && known_type(r.c_type, to);
  if (!types || from != right || (to != from && to != Element::f32)) {
    lockstep_say_lacking(r.entry, "these types of A, B and C are not there",
                         "use f32, f16 or bf16 for A and B, and the same or f32 for C");
    return lacking;
  }
  const bool rounded = r.compute == in_32f_fast_tf32 ||
                       (r.compute == in_32f && r.handle->math_mode % 16 == tf32_math);
  if (from == Element::f32 && rounded) from = Element::tf32;
  Gemm g;
  g.a = r.a;
  g.b = r.b;
  g.c = g.d = r.c;
  g.a_stride = r.a_stride;
  g.b_stride = r.b_stride;
  g.c_stride = g.d_stride = r.c_stride;
  g.m = r.m;
  g.n = r.n;
  g.k = r.k;
  g.a_column = r.a_column;
  g.b_column = r.b_column;
  g.c_column = g.d_column = r.c_column;
  g.a_turned = r.a_operation != plain;
  g.b_turned = r.b_operation != plain;
  if (r.handle->pointer_mode == 1) {
    g.alpha_at = static_cast<const float*>(r.alpha);
    g.beta_at = static_cast<const float*>(r.beta);
  } else {
    g.alpha = *static_cast<const float*>(r.alpha);
    g.beta = *static_cast<const float*>(r.beta);
  }
  return lockstep_launch_gemm(&g, from, to, r.batch, r.handle->stream) ? success : failed;
}

}  // namespace

LOCKSTEP_CUBLAS int cublasCreate_v2(Handle** handle) {
  if (!handle) return invalid_value;
  *handle = new Handle;
  return success;
}
LOCKSTEP_CUBLAS int cublasDestroy_v2(Handle* handle) {
  if (!handle) return not_initialized;
  delete handle;
  return success;
}

/// A property of the handle that programs set and ask for.
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage)
#define LOCKSTEP_PROPERTY(set, get, type, member)        \
  LOCKSTEP_CUBLAS int set(Handle* handle, type value) {  \
    if (!handle) return not_initialized;                 \
    handle->member = value;                              \
    return success;                                      \
  }                                                      \
  LOCKSTEP_CUBLAS int get(Handle* handle, type* value) { \
    if (!handle) return not_initialized;                 \
    if (!value) return invalid_value;                    \
    *value = handle->member;                             \
    return success;                                      \
  }
LOCKSTEP_PROPERTY(cublasSetStream_v2, cublasGetStream_v2, void*, stream)
LOCKSTEP_PROPERTY(cublasSetPointerMode_v2, cublasGetPointerMode_v2, int, pointer_mode)
LOCKSTEP_PROPERTY(cublasSetMathMode, cublasGetMathMode, int, math_mode)
LOCKSTEP_PROPERTY(cublasSetAtomicsMode, cublasGetAtomicsMode, int, atomics_mode)
/// Does nothing: Lockstep's kernels need no memory besides the matrices.
LOCKSTEP_CUBLAS int cublasSetWorkspace_v2(Handle* handle, void*, std::size_t) {
  return handle ? success : not_initialized;
}
LOCKSTEP_CUBLAS int cublasGetVersion_v2(Handle*, int* version) {
  if (!version) return invalid_value;
  *version = LOCKSTEP_CUDA_MAJOR * 10000;
  return success;
}
LOCKSTEP_CUBLAS const char* cublasGetStatusName(int status) {
  return name_of_status(status);
}
LOCKSTEP_CUBLAS const char* cublasGetStatusString(int status) {
  return name_of_status(status);
}

LOCKSTEP_CUBLAS int cublasGemmStridedBatchedEx(Handle* handle, int a_operation, int b_operation,
                                               int m, int n, int k, const void* alpha,
                                               const void* a, int a_type, int a_column,
                                               long long a_stride, const void* b, int b_type,
                                               int b_column, long long b_stride, const void* beta,
                                               void* c, int c_type, int c_column,
                                               long long c_stride, int batch, int compute, int) {
  constexpr const char* entry = "cublasGemmStridedBatchedEx";
  return multiply({entry, handle, a_operation, b_operation, m,        n,      k,        alpha,
                   a,     a_type, a_column,    a_stride,    b,        b_type, b_column, b_stride,
                   beta,  c,      c_type,      c_column,    c_stride, batch,  compute});
}
LOCKSTEP_CUBLAS int cublasGemmEx(Handle* handle, int a_operation, int b_operation, int m, int n,
                                 int k, const void* alpha, const void* a, int a_type, int a_column,
                                 const void* b, int b_type, int b_column, const void* beta, void* c,
                                 int c_type, int c_column, int compute, int) {
  constexpr const char* entry = "cublasGemmEx";
  return multiply({entry, handle, a_operation, b_operation, m, n,      k,        alpha,
                   a,     a_type, a_column,    0,           b, b_type, b_column, 0,
                   beta,  c,      c_type,      c_column,    0, 1,      compute});
}
LOCKSTEP_CUBLAS int cublasSgemmEx(Handle* handle, int a_operation, int b_operation, int m, int n,
                                  int k, const float* alpha, const void* a, int a_type,
                                  int a_column, const void* b, int b_type, int b_column,
                                  const float* beta, void* c, int c_type, int c_column) {
  return multiply({"cublasSgemmEx",
                   handle,
                   a_operation,
                   b_operation,
                   m,
                   n,
                   k,
                   alpha,
                   a,
                   a_type,
                   a_column,
                   0,
                   b,
                   b_type,
                   b_column,
                   0,
                   beta,
                   c,
                   c_type,
                   c_column,
                   0,
                   1});
}
LOCKSTEP_CUBLAS int cublasSgemm_v2(Handle* handle, int a_operation, int b_operation, int m, int n,
                                   int k, const float* alpha, const float* a, int a_column,
                                   const float* b, int b_column, const float* beta, float* c,
                                   int c_column) {
  return multiply({"cublasSgemm",
                   handle,
                   a_operation,
                   b_operation,
                   m,
                   n,
                   k,
                   alpha,
                   a,
                   r_32f,
                   a_column,
                   0,
                   b,
                   r_32f,
                   b_column,
                   0,
                   beta,
                   c,
                   r_32f,
                   c_column,
                   0,
                   1});
}
LOCKSTEP_CUBLAS int cublasSgemmStridedBatched(Handle* handle, int a_operation, int b_operation,
                                              int m, int n, int k, const float* alpha,
                                              const float* a, int a_column, long long a_stride,
                                              const float* b, int b_column, long long b_stride,
                                              const float* beta, float* c, int c_column,
                                              long long c_stride, int batch) {
  return multiply({"cublasSgemmStridedBatched",
                   handle,
                   a_operation,
                   b_operation,
                   m,
                   n,
                   k,
                   alpha,
                   a,
                   r_32f,
                   a_column,
                   a_stride,
                   b,
                   r_32f,
                   b_column,
                   b_stride,
                   beta,
                   c,
                   r_32f,
                   c_column,
                   c_stride,
                   batch});
}

// Every other entry prints its name and fails. NOLINTNEXTLINE(cppcoreguidelines-macro-usage)
#define LOCKSTEP_LACKING(name)                                       \
  LOCKSTEP_CUBLAS int name() {                                       \
    lockstep_say_lacking(#name, "is not there in captured programs", \
                         "use cublasGemmEx or cublasSgemm");         \
    return lacking;                                                  \
  }
#include "jobs/capture/libraries/other_entries.def"

}  // namespace lockstep::capture
