/// Tensor maps: the layout of a tensor of one to five dimensions in global memory, and the box of
/// it that one copy moves.  A map has 128 bytes, which a driver encodes; only this file reads and
/// writes them.
///
/// Dimension 0 is the innermost: its elements are contiguous.
/// Source: CUDA Driver API reference, "Tensor Map Object Management"; PTX ISA 8.x, "Tensors" and
/// "tensormap.replace"; the 128 bytes: cicuvc/nvidia-sass-document, verified there against a driver
/// (modern-isa.md, section 3.3).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "models/isa/matrix/swizzle.hpp"

namespace lockstep::isa {

/// Types of elements, with the numbers of CUtensorMapDataType.
enum class TensorType : std::uint8_t {
  u8,
  u16,
  u32,
  s32,
  u64,
  s64,
  f16,
  f32,
  f64,
  bf16,
  f32_flushed,
  tf32,
  tf32_flushed,
  count,
};
unsigned bytes_of(TensorType type);
/// Returns whether elements outside of a tensor of this type can be filled with NaN.
bool is_float(TensorType type);

struct TensorMap {
  static constexpr unsigned bytes = 128, alignment = 64, most_rank = 5;
  static constexpr unsigned most_box = 256, most_step = 8;
  /// Bytes of the largest box: more than an SM has.
  static constexpr std::uint64_t most_bytes = 256 * 1024;
  using Bytes = std::array<std::byte, bytes>;

  std::uint64_t address = 0;  ///< address, a multiple of 16
  unsigned rank = 1;
  TensorType type = TensorType::u8;
  unsigned interleave = 0;  ///< value of CUtensorMapInterleave
  bool is_im2col = false;
  Swizzle swizzle = Swizzle::none;
  unsigned promotion = 0;  ///< value of CUtensorMapL2promotion, a hint without effect
  bool fills_nan = false;  ///< true: elements outside of the tensor are NaN; false: zero
  std::array<std::uint64_t, most_rank> size{1, 1, 1, 1, 1};
  /// Bytes between neighbours in each dimension, multiples of 16.  Dimension 0 has no stride: its
  /// neighbours are an element apart.
  std::array<std::uint64_t, most_rank> stride{};
  std::array<std::uint32_t, most_rank> box{1, 1, 1, 1, 1};
  /// Element strides; that of dimension 0 has no effect.
  std::array<std::uint32_t, most_rank> step{1, 1, 1, 1, 1};

  bool operator==(const TensorMap&) const = default;

  /// Elements of the box that a copy moves in a dimension.
  std::uint32_t count(unsigned dimension) const {
    if (dimension == 0) return box[0];
    return (box[dimension] + step[dimension] - 1) / step[dimension];
  }
  std::uint32_t row_bytes() const { return box[0] * bytes_of(type); }
  /// Returns the bytes of the box in shared memory, including those outside of the tensor.
  std::uint64_t box_bytes() const;
};

/// Bits of a map that a program may replace by themselves.
struct TensorMapField {
  unsigned byte = 0;  ///< first of the 1, 4 or 8 bytes that hold the field
  unsigned bytes = 4;
  unsigned low = 0, width = 32;  ///< bits of the field within 4 bytes; by default all 32

  bool is_part() const { return bytes == 4 && width < 32; }
};
namespace tensor_map_fields {
TensorMapField address();
TensorMapField rank();                      ///< rank minus one
TensorMapField box(unsigned dimension);     ///< box extent minus one
TensorMapField size(unsigned dimension);    ///< tensor extent minus one
TensorMapField stride(unsigned dimension);  ///< stride in units of 16 bytes
TensorMapField step(unsigned dimension);    ///< element stride minus one
TensorMapField type();
TensorMapField rounds_to_tf32();
TensorMapField interleave();
TensorMapField swizzle();
TensorMapField pattern();  ///< second field with the swizzle's pattern
TensorMapField fill();
}  // namespace tensor_map_fields
/// Returns the value of the field `pattern` for a swizzle.
std::uint32_t pattern_of(Swizzle swizzle);

/// Precondition: the fields are in the ranges that mistake_in_fields asks for.
TensorMap::Bytes encode(const TensorMap& map);
/// Returns the map that the bytes encode. Bytes that are no map also decode to some map.
TensorMap decode(const TensorMap::Bytes& bytes);

/// Returns the reason why the map is invalid; "" if it is valid.
std::string mistake_in_fields(const TensorMap& map);
/// Returns the reason why no copy is made with such a valid map; "": copies are made.
std::string not_modelled(const TensorMap& map);
/// Returns why no copy can be made with these bytes; "": it can.
std::string mistake_in_bytes(const TensorMap::Bytes& bytes);

}  // namespace lockstep::isa
