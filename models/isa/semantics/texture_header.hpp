/// Header to which the handle of a texture or surface points: 64 bytes in the tenant's memory,
/// written by the host like any other data.  Plain data: the semantics, the reader and the capture
/// runtime share it.
///
/// Hardware keeps such headers in an undocumented format; this one has the simulated fields. Texels
/// are stored row by row with a pitch; those of a volume or of layers slice by slice.
#pragma once

#include <cstdint>

namespace lockstep::isa {

enum class TextureAddressing : std::uint8_t { wrap, clamp, mirror, border };
enum class TexelKind : std::uint8_t { is_unsigned, is_signed, is_float };

/// Fields of TextureHeader::flags.
namespace texture_flags {
inline constexpr unsigned channel_shift = 0;  ///< place of log2 of a channel's bytes, two bits
/// Place of log2 of the number of channels, two bits.
inline constexpr unsigned channels_shift = 2;
inline constexpr unsigned kind_shift = 4;  ///< place of the TexelKind, two bits
/// Places of the TextureAddressing of x, y, z.
inline constexpr unsigned addressing_shift[3] = {10, 12, 14};
/// A PTX module after the reader, for lowering and encoder.
inline constexpr std::uint32_t normalized_read = 1U << 6;
inline constexpr std::uint32_t linear = 1U << 7;
inline constexpr std::uint32_t normalized_coordinates = 1U << 8;
}  // namespace texture_flags

struct TextureHeader {
  std::uint64_t address = 0;            ///< address of the first texel
  std::uint32_t width = 1, height = 1;  ///< extents in texels
  std::uint32_t pitch = 0;              ///< bytes from one row to the next
  std::uint32_t flags = 0;
  std::uint32_t depth = 1, rows = 1;  ///< number of slices, and rows from one slice to the next
  unsigned char border[16] = {};  ///< texel outside of the texture with TextureAddressing::border
  std::uint64_t unused[2] = {};
};
inline constexpr unsigned texture_header_bytes = 64, texture_border_offset = 32;
static_assert(sizeof(TextureHeader) == texture_header_bytes);

}  // namespace lockstep::isa
