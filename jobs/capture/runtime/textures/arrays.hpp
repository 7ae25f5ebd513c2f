/// CUDA arrays: memory with a format and extents.
///
/// Simplified: hardware stores an array's texels in tiles that keep neighbours in two dimensions
/// together; here they are stored row by row, with a pitch of whole 16 bytes, slice by slice.
#pragma once

#include <algorithm>
#include <cstddef>

#include "jobs/capture/runtime/cuda_abi.hpp"

namespace lockstep::capture {

/// cudaChannelFormatDesc.
struct ChannelFormat {
  int bits[4];
  int kind;
  bool operator==(const ChannelFormat&) const = default;
};
static_assert(sizeof(ChannelFormat) == 20);
enum ChannelKind : int { signed_channels, unsigned_channels, float_channels, no_channels };

/// Returns whether a format has one, two or four channels of the same 8, 16 or 32 bits.
bool is_texel(const ChannelFormat& format);
int channels_of(const ChannelFormat& format);
inline std::size_t texel_bytes(const ChannelFormat& format) {
  return static_cast<std::size_t>(channels_of(format) * format.bits[0] / 8);
}

struct Array {
  char* texels = nullptr;
  std::size_t pitch = 0;
  ChannelFormat format{};
  Extent extent;  ///< extents as requested: 0 for an absent dimension
  unsigned flags = 0;
  std::size_t width() const { return extent.width; }
  std::size_t height() const { return std::max<std::size_t>(extent.height, 1); }
  std::size_t depth() const { return std::max<std::size_t>(extent.depth, 1); }
  std::size_t row_bytes() const { return width() * texel_bytes(format); }
};
inline constexpr unsigned layered_array = 1, cube_array = 4;

enum TextureError : Error { invalid_channel_format = 20, invalid_filter = 26 };

}  // namespace lockstep::capture
