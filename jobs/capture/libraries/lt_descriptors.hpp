/// Descriptors of libcublasLt: of an operation, of a matrix, and of the preferences of a search.
/// Programs keep them in their own memory or in the library's, and write and read them by
/// attributes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "jobs/capture/libraries/numbering.hpp"

namespace lockstep::capture {

/// cublasLtMatrixLayoutOpaque_t has 64 bytes.
struct MatrixLayout {
  std::uint32_t type = 0;
  std::int32_t order = 0;  ///< 0: columns, 1: rows
  std::uint64_t rows = 0, columns = 0;
  std::int64_t distance = 0;  ///< elements from one column or row to the next
  std::int32_t batch = 1;
  /// 1 + number of an attribute that was set and is not supported; 0: none.
  std::uint32_t lacking = 0;
  std::int64_t stride = 0;
};
static_assert(sizeof(MatrixLayout) <= 64);

/// cublasLtMatmulDescOpaque_t has 184 bytes in the oldest headers of version 12.
struct MatmulDescription {
  std::int32_t compute = in_32f, scale_type = 0, pointer_mode = 0;
  std::int32_t a_operation = plain, b_operation = plain, c_operation = plain;
  std::uint32_t epilogue = 1;
  std::int32_t aux_type = -1, bias_type = -1;
  /// 1 + number of an attribute that was set and is not supported; 0: none.
  std::uint32_t lacking = 0;
  void* bias = nullptr;
  std::int64_t bias_stride = 0;
  void* aux = nullptr;
  std::int64_t aux_column = 0, aux_stride = 0;
  std::int32_t sms = 0;               ///< hint without effect
  std::int8_t fast_accumulation = 0;  ///< hint without effect
};
static_assert(sizeof(MatmulDescription) <= 184);

/// cublasLtMatmulPreferenceOpaque_t has 64 bytes.
struct MatmulPreference {
  std::uint32_t search = 0, reductions = ~0U;
  std::uint64_t workspace = 0, implementations = ~std::uint64_t{0};
  std::uint32_t a_alignment = 256, b_alignment = 256, c_alignment = 256, d_alignment = 256;
  float waves = 0;
};
static_assert(sizeof(MatmulPreference) <= 64);

/// Writes and reads an attribute.  Unsupported attributes may be set to zero; otherwise the
/// descriptor remembers them, and the product reports them.
Status set(MatrixLayout& layout, int attribute, const void* from, std::size_t bytes);
Status set(MatmulDescription& description, int attribute, const void* from, std::size_t bytes);
Status set(MatmulPreference& preference, int attribute, const void* from, std::size_t bytes);
Status get(MatrixLayout& layout, int attribute, void* to, std::size_t bytes, std::size_t* written);
Status get(MatmulDescription& description, int attribute, void* to, std::size_t bytes,
           std::size_t* written);
Status get(MatmulPreference& preference, int attribute, void* to, std::size_t bytes,
           std::size_t* written);

}  // namespace lockstep::capture
