#include "jobs/capture/runtime/textures/headers.hpp"

#include <cmath>
#include <cstring>

#include "jobs/capture/runtime/connection.hpp"

namespace lockstep::capture {
namespace {

namespace flags = isa::texture_flags;

std::uint32_t log2_of(int value) {
  return value == 4 ? 2 : value == 2 ? 1 : 0;
}

std::uint32_t flags_of(const ChannelFormat& format) {
  const auto kind = format.kind == float_channels    ? isa::TexelKind::is_float
                    : format.kind == signed_channels ? isa::TexelKind::is_signed
                                                     : isa::TexelKind::is_unsigned;
  return log2_of(format.bits[0] / 8) << flags::channel_shift |
         log2_of(channels_of(format)) << flags::channels_shift |
         static_cast<std::uint32_t>(kind) << flags::kind_shift;
}

/// Returns the nearest half, as hardware converts; a value that is too large becomes infinity.
std::uint32_t half_bits(float value) {
  const std::uint32_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(static_cast<double>(value));
  if (std::isnan(magnitude)) return 0x7fff;
  if (magnitude >= 65520) return sign | 0x7c00;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  exponent = std::max(exponent, -13);  // exponent of the smallest normal number
  const auto steps =
      static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, 11 - exponent)));
  // Steps of a normal number have their leading bit at 1024, from which the exponent's field
  // counts.
  return sign | (steps + (static_cast<std::uint32_t>(exponent + 13) << 10));
}

/// Returns a channel of the border's colour as the format has it: integers that are not read as
/// fractions stand as their bits in the description.
std::uint32_t border_bits(float colour, const ChannelFormat& format, bool fractions) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &colour, sizeof bits);
  if (format.kind == float_channels) return format.bits[0] == 16 ? half_bits(colour) : bits;
  if (!fractions || format.bits[0] == 32) return bits;
  const bool is_signed = format.kind == signed_channels;
  const double largest = std::ldexp(1, format.bits[0] - (is_signed ? 1 : 0)) - 1;
  const double value = std::fmin(std::fmax(colour, is_signed ? -1.0 : 0.0), 1.0);
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(std::nearbyint(value * largest)));
}

const ChannelFormat& format_of(const ResourceDescription& resource) {
  return resource.type == ResourceDescription::array ? resource.resource.array->format
                                                     : resource.resource.memory.format;
}

}  // namespace

Error describe_texels(const ResourceDescription& resource, isa::TextureHeader& header) {
  if (resource.type == ResourceDescription::mipmapped_array)
    return unsupported("a texture of a mipmapped array");
  const bool is_array = resource.type == ResourceDescription::array;
  if (is_array && !resource.resource.array) return invalid_value;
  const ChannelFormat& format = format_of(resource);
  if (!is_texel(format)) return invalid_channel_format;
  header.flags = flags_of(format);
  const auto put = [&](void* address, std::size_t width, std::size_t height, std::size_t pitch) {
    header.address = reinterpret_cast<std::uint64_t>(address);
    header.width = static_cast<std::uint32_t>(width);
    header.height = header.rows = static_cast<std::uint32_t>(height);
    header.pitch = static_cast<std::uint32_t>(pitch);
  };
  const ResourceDescription::Memory& memory = resource.resource.memory;
  if (is_array) {
    const Array& array = *resource.resource.array;
    put(array.texels, array.width(), array.height(), array.pitch);
    header.depth = static_cast<std::uint32_t>(array.depth());
  } else if (resource.type == ResourceDescription::linear) {
    put(memory.pointer, memory.width / texel_bytes(format), 1, 0);
  } else if (resource.type == ResourceDescription::pitched) {
    put(memory.pointer, memory.width, memory.height, memory.pitch);
  } else {
    return invalid_value;
  }
  return header.address == 0 || header.width == 0 ? Error{invalid_value} : Error{success};
}

Error describe_texture(const ResourceDescription& resource, const TextureDescription& texture,
                       isa::TextureHeader& header) {
  if (texture.srgb != 0) return unsupported("a texture with sRGB conversion");
  const Error error = describe_texels(resource, header);
  if (error != success) return error;
  const ChannelFormat& format = format_of(resource);
  const bool fractions = texture.normalized_reads != 0 && format.kind != float_channels;
  const bool linear = texture.filter != 0;
  if (linear && format.kind != float_channels && (!fractions || format.bits[0] == 32))
    return invalid_filter;
  if (fractions) header.flags |= flags::normalized_read;
  if (linear) header.flags |= flags::linear;
  if (texture.normalized_coordinates != 0) header.flags |= flags::normalized_coordinates;
  // Linear memory is read by index, and is zero behind its end.
  const bool by_index = resource.type == ResourceDescription::linear;
  const bool layered = resource.type == ResourceDescription::array &&
                       (resource.resource.array->flags & layered_array) != 0;
  for (int d = 0; d < 3; ++d) {
    auto mode = static_cast<isa::TextureAddressing>(texture.addressing[d] & 3);
    if (by_index) mode = isa::TextureAddressing::border;
    if (layered && d == 2) mode = isa::TextureAddressing::clamp;
    header.flags |= static_cast<std::uint32_t>(mode) << flags::addressing_shift[d];
  }
  const std::size_t bytes = static_cast<std::size_t>(format.bits[0] / 8);
  for (int c = 0; c < channels_of(format) && !by_index; ++c) {
    const std::uint32_t bits = border_bits(texture.border[c], format, fractions);
    std::memcpy(header.border + static_cast<std::size_t>(c) * bytes, &bits, bytes);
  }
  return success;
}

}  // namespace lockstep::capture
