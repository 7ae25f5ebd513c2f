#include "models/workload/texture_initializer.hpp"

#include <bit>
#include <map>
#include <string>

#include "core/parameters/suggest.hpp"
#include "models/workload/init_keys.hpp"
#include "models/workload/workload.hpp"

namespace lockstep {

namespace {

namespace flags = isa::texture_flags;

std::uint32_t size_or_one(const Node& node, const Variables& variables) {
  constexpr std::int64_t largest = 1 << 27;  // texels of a texture of one dimension, on any GPU
  return node.exists()
             ? static_cast<std::uint32_t>(Expression(node).evaluate_integer(variables, 1, largest))
             : 1;
}

std::uint32_t format_of(const Node& map, isa::Type type, std::uint32_t channels, const Node& at) {
  if (channels != 1 && channels != 2 && channels != 4)
    throw at.error("a texel has one, two or four channels", "write channels: 4");
  if (isa::bytes_of(type) > 4 || type == isa::Type::bf16)
    throw map.error("channels of " + element_type_name(type) + " are not there",
                    "they are u8, i8, u16, i16, u32, i32, f16 or f32");
  const auto kind = isa::is_float(type)    ? isa::TexelKind::is_float
                    : isa::is_signed(type) ? isa::TexelKind::is_signed
                                           : isa::TexelKind::is_unsigned;
  return static_cast<std::uint32_t>(std::countr_zero(isa::bytes_of(type))) << flags::channel_shift |
         static_cast<std::uint32_t>(std::countr_zero(channels)) << flags::channels_shift |
         static_cast<std::uint32_t>(kind) << flags::kind_shift;
}

bool flag(const Node& node) {
  return node.exists() && node.boolean();
}

template <class Value>
Value named(const Node& node, const std::map<std::string, Value>& names, const std::string& what) {
  if (const auto found = names.find(node.text()); found != names.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [name, value] : names) known.push_back(name);
  throw node.error("no " + what + " is called \"" + node.text() + "\"",
                   suggest(node.text(), known));
}

/// Reads the addressing: one word for all dimensions, or a list.
std::uint32_t addressing_of(const Node& node) {
  static const std::map<std::string, isa::TextureAddressing> names{
      {"wrap", isa::TextureAddressing::wrap},
      {"clamp", isa::TextureAddressing::clamp},
      {"mirror", isa::TextureAddressing::mirror},
      {"border", isa::TextureAddressing::border}};
  if (node.is_sequence() && (node.size() < 1 || node.size() > 3))
    throw node.error("address modes are for one to three dimensions", "write address: clamp");
  std::uint32_t result = 0;
  for (std::size_t d = 0; d < 3; ++d) {
    const bool given = node.exists() && (!node.is_sequence() || d < node.size());
    const auto mode = given ? named(node.is_sequence() ? node.item(d) : node, names, "address mode")
                            : isa::TextureAddressing::clamp;
    result |= static_cast<std::uint32_t>(mode) << flags::addressing_shift[d];
  }
  return result;
}

}  // namespace

isa::TextureHeader read_texture(const TextureKeys& keys, const Node& map, const Buffer& texels,
                                const Variables& variables) {
  if (!texels.address)
    throw map.error("buffer " + texels.name + " has no address for the texture's header",
                    "state one, as address: 0x200000000, for it and all other buffers");
  isa::TextureHeader header;
  header.address = *texels.address;
  header.width = size_or_one(keys.width, variables);
  header.height = header.rows = size_or_one(keys.height, variables);
  header.depth = size_or_one(keys.depth, variables);
  const std::uint32_t channels = size_or_one(keys.channels, variables);
  header.flags = format_of(map, texels.type, channels, keys.channels);
  const std::uint64_t row = std::uint64_t{header.width} * channels * isa::bytes_of(texels.type);
  const Node& pitch = keys.pitch;
  header.pitch = static_cast<std::uint32_t>(
      pitch.exists() ? Expression(pitch).evaluate_integer(variables, 1, INT32_MAX)
                     : static_cast<std::int64_t>(row));
  const std::uint64_t rows = std::uint64_t{header.height} * header.depth;
  const std::uint64_t needed = (rows - 1) * header.pitch + row;
  if (header.pitch < row || header.pitch % isa::bytes_of(texels.type) != 0)
    throw(pitch.exists() ? pitch : map)
        .error("rows of " + std::to_string(row) + " bytes do not fit the pitch",
               "write a multiple of the texel's size, and at least the row's");
  // Small texels are loaded in words.
  if (needed > texels.bytes() || texels.bytes() % 4 != 0)
    throw map.error("the texture takes " + std::to_string(needed) + " bytes, buffer " +
                        texels.name + " has " + std::to_string(texels.bytes()),
                    "raise its count, to a multiple of 4 bytes");
  header.flags |= addressing_of(keys.address);
  static const std::map<std::string, std::uint32_t> filters{{"nearest", 0},
                                                            {"linear", flags::linear}};
  if (keys.filter.exists()) header.flags |= named(keys.filter, filters, "filter");
  if (flag(keys.normalized)) header.flags |= flags::normalized_coordinates;
  if (flag(keys.fractions)) header.flags |= flags::normalized_read;
  const bool has_fractions = flag(keys.fractions) && isa::bytes_of(texels.type) < 4;
  if ((header.flags & flags::linear) != 0 && !isa::is_float(texels.type) && !has_fractions)
    throw keys.filter.error("integers are not filtered",
                            "read them as fractions: true (8 and 16 bits), or nearest");
  return header;
}

}  // namespace lockstep
