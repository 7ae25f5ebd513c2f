/// libcublasLt of captured programs: descriptors, one algorithm, and products with epilogues in
/// Lockstep's own kernels.
///
/// Enumerators have the numbers that cuBLAS 13 documents.
#include <cstddef>
#include <cstring>
#include <new>

#include "jobs/capture/libraries/lt_product.hpp"

// NOLINTBEGIN(cppcoreguidelines-macro-usage)
#define LOCKSTEP_CUBLAS extern "C" __attribute__((visibility("default")))
// NOLINTEND(cppcoreguidelines-macro-usage)

namespace lockstep::capture {
namespace {

/// cublasLtMatmulAlgo_t.
struct Algorithm {
  std::uint64_t known, rest[7];
};
constexpr std::uint64_t only_algorithm =
    0x6c6f636b73746570;  // number that memory does not hold by chance
/// cublasLtMatmulHeuristicResult_t.
struct Found {
  Algorithm algorithm;
  std::size_t workspace;
  int state;
  float waves;
  int reserved[4];
};
static_assert(sizeof(Algorithm) == 64 && sizeof(Found) == 96);

Found found_with(Status status) {
  Found found{};
  found.algorithm.known = status == success ? only_algorithm : 0;
  found.state = status;
  found.waves = 1;
  return found;
}

Status begin(void* descriptor, std::size_t bytes, std::size_t needed) {
  return !descriptor ? invalid_value : bytes < needed ? no_memory : success;
}
Status init(MatrixLayout* layout, std::size_t bytes, int type, std::uint64_t rows,
            std::uint64_t columns, std::int64_t distance) {
  if (const Status status = begin(layout, bytes, sizeof *layout); status != success) return status;
  new (layout) MatrixLayout;
  layout->type = static_cast<std::uint32_t>(type);
  layout->rows = rows;
  layout->columns = columns;
  layout->distance = distance;
  return success;
}
Status init(MatmulDescription* description, std::size_t bytes, int compute, int scale_type) {
  if (const Status status = begin(description, bytes, sizeof *description); status != success)
    return status;
  new (description) MatmulDescription;
  description->compute = compute;
  description->scale_type = scale_type;
  return success;
}
Status init(MatmulPreference* preference, std::size_t bytes) {
  if (const Status status = begin(preference, bytes, sizeof *preference); status != success)
    return status;
  new (preference) MatmulPreference;
  return success;
}
template <class Descriptor, class... Values>
Status create(Descriptor** descriptor, Values... values) {
  if (!descriptor) return invalid_value;
  *descriptor = new Descriptor{};
  return init(*descriptor, sizeof(Descriptor), values...);
}
template <class Descriptor>
Status destroy(Descriptor* descriptor) {
  delete descriptor;
  return success;
}
template <class Descriptor>
Status set_of(Descriptor* descriptor, int attribute, const void* from, std::size_t bytes) {
  return descriptor ? set(*descriptor, attribute, from, bytes) : invalid_value;
}
template <class Descriptor>
Status get_of(Descriptor* descriptor, int attribute, void* to, std::size_t bytes,
              std::size_t* written) {
  return descriptor ? get(*descriptor, attribute, to, bytes, written) : invalid_value;
}

}  // namespace

LOCKSTEP_CUBLAS int cublasLtCreate(void** handle) {
  if (!handle) return invalid_value;
  *handle = new char;
  return success;
}
LOCKSTEP_CUBLAS int cublasLtDestroy(void* handle) {
  if (!handle) return not_initialized;
  delete static_cast<char*>(handle);
  return success;
}
LOCKSTEP_CUBLAS const char* cublasLtGetStatusName(int status) {
  return name_of_status(status);
}
LOCKSTEP_CUBLAS const char* cublasLtGetStatusString(int status) {
  return name_of_status(status);
}
LOCKSTEP_CUBLAS std::size_t cublasLtGetVersion() {
  return std::size_t{LOCKSTEP_CUDA_MAJOR} * 10000;
}
LOCKSTEP_CUBLAS std::size_t cublasLtGetCudartVersion() {
  return std::size_t{LOCKSTEP_CUDA_MAJOR} * 1000;
}
LOCKSTEP_CUBLAS int cublasLtGetProperty(int type, int* value) {
  if (!value || type < 0 || type > 2) return invalid_value;
  *value = type == 0 ? LOCKSTEP_CUDA_MAJOR : 0;
  return success;
}

LOCKSTEP_CUBLAS int cublasLtMatrixLayoutInit_internal(MatrixLayout* layout, std::size_t bytes,
                                                      int type, std::uint64_t rows,
                                                      std::uint64_t columns,
                                                      std::int64_t distance) {
  return init(layout, bytes, type, rows, columns, distance);
}
LOCKSTEP_CUBLAS int cublasLtMatrixLayoutCreate(MatrixLayout** layout, int type, std::uint64_t rows,
                                               std::uint64_t columns, std::int64_t distance) {
  return create(layout, type, rows, columns, distance);
}
LOCKSTEP_CUBLAS int cublasLtMatmulDescInit_internal(MatmulDescription* description,
                                                    std::size_t bytes, int compute,
                                                    int scale_type) {
  return init(description, bytes, compute, scale_type);
}
LOCKSTEP_CUBLAS int cublasLtMatmulDescCreate(MatmulDescription** description, int compute,
                                             int scale_type) {
  return create(description, compute, scale_type);
}
LOCKSTEP_CUBLAS int cublasLtMatmulPreferenceInit_internal(MatmulPreference* preference,
                                                          std::size_t bytes) {
  return init(preference, bytes);
}
LOCKSTEP_CUBLAS int cublasLtMatmulPreferenceCreate(MatmulPreference** preference) {
  return create(preference);
}

/// Further uses of descriptors in programs.
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage)
#define LOCKSTEP_DESCRIPTOR(name, Type)                                                       \
  LOCKSTEP_CUBLAS int cublasLt##name##Destroy(Type* descriptor) {                             \
    return destroy(descriptor);                                                               \
  }                                                                                           \
  LOCKSTEP_CUBLAS int cublasLt##name##SetAttribute(Type* descriptor, int attribute,           \
                                                   const void* from, std::size_t bytes) {     \
    return set_of(descriptor, attribute, from, bytes);                                        \
  }                                                                                           \
  LOCKSTEP_CUBLAS int cublasLt##name##GetAttribute(Type* descriptor, int attribute, void* to, \
                                                   std::size_t bytes, std::size_t* written) { \
    return get_of(descriptor, attribute, to, bytes, written);                                 \
  }
LOCKSTEP_DESCRIPTOR(MatrixLayout, MatrixLayout)
LOCKSTEP_DESCRIPTOR(MatmulDesc, MatmulDescription)
LOCKSTEP_DESCRIPTOR(MatmulPreference, MatmulPreference)

/// Answers the only algorithm, which needs no workspace.
LOCKSTEP_CUBLAS int cublasLtMatmulAlgoGetHeuristic(void* handle, MatmulDescription* description,
                                                   MatrixLayout* a, MatrixLayout* b,
                                                   MatrixLayout* c, MatrixLayout* d,
                                                   MatmulPreference* preference, int most,
                                                   Found* found, int* count) {
  if (!handle) return not_initialized;
  if (!preference || !found || !count || most < 1) return invalid_value;
  const Status status = check({"cublasLtMatmulAlgoGetHeuristic", description, a, b, c, d});
  *found = found_with(status);
  *count = status == success ? 1 : 0;
  return status;
}
LOCKSTEP_CUBLAS int cublasLtMatmulAlgoGetIds(void* handle, int, int, int, int, int, int, int most,
                                             int* numbers, int* count) {
  if (!handle) return not_initialized;
  if (!numbers || !count || most < 1) return invalid_value;
  numbers[0] = 0;
  *count = 1;
  return success;
}
LOCKSTEP_CUBLAS int cublasLtMatmulAlgoInit(void* handle, int, int, int, int, int, int, int number,
                                           Algorithm* algorithm) {
  if (!handle) return not_initialized;
  if (number != 0 || !algorithm) return invalid_value;
  *algorithm = found_with(success).algorithm;
  return success;
}
LOCKSTEP_CUBLAS int cublasLtMatmulAlgoCheck(void* handle, MatmulDescription* description,
                                            MatrixLayout* a, MatrixLayout* b, MatrixLayout* c,
                                            MatrixLayout* d, const Algorithm* algorithm,
                                            Found* found) {
  if (!handle) return not_initialized;
  if (!algorithm || algorithm->known != only_algorithm || !found) return invalid_value;
  const Status status = check({"cublasLtMatmulAlgoCheck", description, a, b, c, d});
  *found = found_with(status);
  return status;
}
LOCKSTEP_CUBLAS int cublasLtMatmul(void* handle, MatmulDescription* description, const void* alpha,
                                   const void* a, MatrixLayout* a_layout, const void* b,
                                   MatrixLayout* b_layout, const void* beta, const void* c,
                                   MatrixLayout* c_layout, void* d, MatrixLayout* d_layout,
                                   const Algorithm* algorithm, void*, std::size_t, void* stream) {
  if (!handle) return not_initialized;
  if (algorithm && algorithm->known != only_algorithm) return invalid_value;
  return multiply({"cublasLtMatmul", description, a_layout, b_layout, c_layout, d_layout},
                  {alpha, a, b, beta, c, d}, stream);
}

// Every other entry prints its name and fails. NOLINTNEXTLINE(cppcoreguidelines-macro-usage)
#define LOCKSTEP_LACKING(name)                                                                     \
  LOCKSTEP_CUBLAS int name() {                                                                     \
    lockstep_say_lacking(#name, "is not there in captured programs", "use cublasLtMatmul of f16"); \
    return lacking;                                                                                \
  }
#include "jobs/capture/libraries/lt_other_entries.def"

}  // namespace lockstep::capture
