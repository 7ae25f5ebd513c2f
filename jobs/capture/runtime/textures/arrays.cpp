#include "jobs/capture/runtime/textures/arrays.hpp"

#include "jobs/capture/runtime/connection.hpp"

namespace lockstep::capture {

LOCKSTEP_EXPORT Error cudaMalloc(void** pointer, std::size_t bytes);
LOCKSTEP_EXPORT Error cudaFree(void* pointer);

bool is_texel(const ChannelFormat& format) {
  const int channels = channels_of(format), bits = format.bits[0];
  if (channels != 1 && channels != 2 && channels != 4) return false;
  for (int c = 0; c < channels; ++c)
    if (format.bits[c] != bits) return false;
  if (format.kind == float_channels) return bits == 16 || bits == 32;
  return (format.kind == signed_channels || format.kind == unsigned_channels) &&
         (bits == 8 || bits == 16 || bits == 32);
}

int channels_of(const ChannelFormat& format) {
  int channels = 0;
  while (channels < 4 && format.bits[channels] != 0) ++channels;
  return channels;
}

LOCKSTEP_EXPORT ChannelFormat cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
  return {{x, y, z, w}, kind};
}

LOCKSTEP_EXPORT Error cudaMalloc3DArray(Array** array, const ChannelFormat* format, Extent extent,
                                        unsigned flags) {
  constexpr std::size_t pitch_alignment = 16;
  if ((flags & cube_array) != 0) return unsupported("cudaMalloc3DArray of a cube");
  if (!array || !format || extent.width == 0) return noted(invalid_value);
  if (!is_texel(*format)) return noted(invalid_channel_format);
  Array made{nullptr, 0, *format, extent, flags};
  made.pitch = (made.row_bytes() + pitch_alignment - 1) / pitch_alignment * pitch_alignment;
  void* texels = nullptr;
  const Error error = cudaMalloc(&texels, made.pitch * made.height() * made.depth());
  if (error != success) return error;
  made.texels = static_cast<char*>(texels);
  *array = new Array(made);
  return success;
}

LOCKSTEP_EXPORT Error cudaMallocArray(Array** array, const ChannelFormat* format, std::size_t width,
                                      std::size_t height, unsigned flags) {
  return cudaMalloc3DArray(array, format, {width, height, 0}, flags);
}

LOCKSTEP_EXPORT Error cudaFreeArray(Array* array) {
  if (!array) return success;
  const Error error = cudaFree(array->texels);
  delete array;
  return error;
}

LOCKSTEP_EXPORT Error cudaGetChannelDesc(ChannelFormat* format, const Array* array) {
  if (!format || !array) return noted(invalid_value);
  *format = array->format;
  return success;
}

LOCKSTEP_EXPORT Error cudaArrayGetInfo(ChannelFormat* format, Extent* extent, unsigned* flags,
                                       const Array* array) {
  if (!array) return noted(invalid_value);
  if (format) *format = array->format;
  if (extent) *extent = array->extent;
  if (flags) *flags = array->flags;
  return success;
}

}  // namespace lockstep::capture
