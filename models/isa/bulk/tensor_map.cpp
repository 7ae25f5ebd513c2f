#include "models/isa/bulk/tensor_map.hpp"

#include <algorithm>
#include <cstring>

namespace lockstep::isa {
namespace {

using Words = std::array<std::uint32_t, TensorMap::bytes / 4>;

/// Bits of a word.
struct Field {
  unsigned word, low, width;

  std::uint32_t mask() const { return width == 32 ? ~0u : (1u << width) - 1; }
  std::uint32_t get(const Words& words) const { return words[word] >> low & mask(); }
  void put(Words& words, std::uint64_t value) const {
    words[word] |= (static_cast<std::uint32_t>(value) & mask()) << low;
  }
};

namespace field {

constexpr Field address_low{0, 0, 32}, address_high{1, 0, 32};
constexpr Field im2col{2, 0, 1}, rank_less_one{2, 4, 3}, type_code{2, 7, 4}, interleave{2, 11, 2};
constexpr Field swizzle{2, 13, 2}, nan_fill{2, 15, 1}, rounds_tf32{2, 16, 1}, promotion{2, 17, 2};
constexpr Field atoms{2, 19, 2}, is_wide{2, 21, 1};
constexpr unsigned first_stride = 3, first_size = 8;
constexpr Field box_0{13, 24, 8};
constexpr Field step(unsigned dimension) {
  return {13, 3 * dimension, 3};
}
constexpr Field box(unsigned dimension) {
  return dimension == 0 ? box_0 : Field{14, 8 * (dimension - 1), 8};
}
constexpr Field moved_bytes{16, 0, 32}, pattern{18, 0, 32};

}  // namespace field

/// Number of elements from which on a map says that its tensor is wide.
constexpr std::uint64_t wide_tensor = 65536;

struct TypeCode {
  unsigned bytes;
  bool is_float;
  unsigned code;
  bool rounds;
};
constexpr std::array<TypeCode, static_cast<std::size_t>(TensorType::count)> types{{
    {1, false, 0, false},
    {2, false, 1, false},
    {4, false, 2, false},
    {4, false, 3, false},
    {8, false, 4, false},
    {8, false, 5, false},
    {2, true, 6, false},
    {4, true, 7, false},
    {8, true, 9, false},
    {2, true, 10, false},
    {4, true, 8, false},
    {4, true, 7, true},
    {4, true, 8, true},
}};
const TypeCode& code_of(TensorType type) {
  return types[static_cast<std::size_t>(type)];
}

TensorType type_in(const Words& words) {
  for (std::size_t t = 0; t < types.size(); ++t)
    if (types[t].code == field::type_code.get(words) &&
        types[t].rounds == (field::rounds_tf32.get(words) != 0))
      return static_cast<TensorType>(t);
  return TensorType::count;
}

std::uint64_t whole_steps(const TensorMap& map) {
  std::uint64_t elements = 1;
  for (unsigned d = 0; d < map.rank; ++d) elements *= map.box[d] / map.step[d];
  return elements * bytes_of(map.type);
}

bool has_many_elements(const TensorMap& map) {
  std::uint64_t elements = 1;
  for (unsigned d = 0; d < map.rank; ++d) {
    if (map.size[d] >= wide_tensor) return true;
    elements *= map.size[d];
    if (elements >= wide_tensor) return true;
  }
  return false;
}

Words words_of(const TensorMap& map) {
  Words words{};
  field::address_low.put(words, map.address);
  field::address_high.put(words, map.address >> 32);
  field::im2col.put(words, map.is_im2col);
  field::rank_less_one.put(words, map.rank - 1);
  field::type_code.put(words, code_of(map.type).code);
  field::rounds_tf32.put(words, code_of(map.type).rounds);
  field::interleave.put(words, map.interleave);
  field::swizzle.put(words, static_cast<std::uint64_t>(map.swizzle));
  field::nan_fill.put(words, map.fills_nan);
  field::promotion.put(words, map.promotion);
  field::is_wide.put(words, has_many_elements(map));
  for (unsigned d = 0; d < map.rank; ++d) {
    if (d > 0) words[field::first_stride + d - 1] = static_cast<std::uint32_t>(map.stride[d] / 16);
    words[field::first_size + d] = static_cast<std::uint32_t>(map.size[d] - 1);
    field::box(d).put(words, map.box[d] - 1);
    field::step(d).put(words, map.step[d] - 1);
  }
  field::moved_bytes.put(words, whole_steps(map));
  field::pattern.put(words, pattern_of(map.swizzle));
  return words;
}

TensorMap map_of(const Words& words) {
  TensorMap map;
  map.address = field::address_low.get(words) | std::uint64_t{field::address_high.get(words)} << 32;
  map.is_im2col = field::im2col.get(words) != 0;
  map.rank = field::rank_less_one.get(words) + 1;
  map.type = type_in(words);
  map.interleave = field::interleave.get(words);
  map.swizzle = static_cast<Swizzle>(field::swizzle.get(words));
  map.fills_nan = field::nan_fill.get(words) != 0;
  map.promotion = field::promotion.get(words);
  for (unsigned d = 0; d < std::min(map.rank, TensorMap::most_rank); ++d) {
    if (d > 0) map.stride[d] = std::uint64_t{words[field::first_stride + d - 1]} * 16;
    map.size[d] = std::uint64_t{words[field::first_size + d]} + 1;
    map.box[d] = field::box(d).get(words) + 1;
    map.step[d] = field::step(d).get(words) + 1;
  }
  return map;
}

}  // namespace

namespace tensor_map_fields {
namespace {

TensorMapField part(const Field& field) {
  return {4 * field.word, 4, field.low, field.width};
}
TensorMapField whole(unsigned word, unsigned bytes) {
  return {4 * word, bytes, 0, 8 * bytes};
}
TensorMapField byte_of(const Field& field) {
  return {4 * field.word + field.low / 8, 1, 0, 8};
}

}  // namespace

TensorMapField address() {
  return whole(field::address_low.word, 8);
}
TensorMapField rank() {
  return part(field::rank_less_one);
}
TensorMapField box(unsigned dimension) {
  return byte_of(field::box(dimension));
}
TensorMapField size(unsigned dimension) {
  return whole(field::first_size + dimension, 4);
}
TensorMapField stride(unsigned dimension) {
  return whole(field::first_stride + dimension - 1, 4);
}
TensorMapField step(unsigned dimension) {
  return part(field::step(dimension));
}
TensorMapField type() {
  return part(field::type_code);
}
TensorMapField rounds_to_tf32() {
  return part(field::rounds_tf32);
}
TensorMapField interleave() {
  return part(field::interleave);
}
TensorMapField swizzle() {
  return part(field::swizzle);
}
TensorMapField pattern() {
  return whole(field::pattern.word, 4);
}
TensorMapField fill() {
  return part(field::nan_fill);
}

}  // namespace tensor_map_fields

std::uint32_t pattern_of(Swizzle swizzle) {
  constexpr std::array<std::uint32_t, 4> patterns{0x10, 0x100, 0x200, 0x400};
  return patterns[static_cast<std::size_t>(swizzle)];
}

unsigned bytes_of(TensorType type) {
  return code_of(type).bytes;
}
bool is_float(TensorType type) {
  return code_of(type).is_float;
}

std::uint64_t TensorMap::box_bytes() const {
  std::uint64_t elements = 1;
  for (unsigned d = 0; d < rank; ++d) elements *= count(d);
  return elements * bytes_of(type);
}

TensorMap::Bytes encode(const TensorMap& map) {
  const Words words = words_of(map);
  TensorMap::Bytes bytes;
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

TensorMap decode(const TensorMap::Bytes& bytes) {
  Words words;
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return map_of(words);
}

std::string mistake_in_fields(const TensorMap& map) {
  const auto text = [](std::uint64_t value) { return std::to_string(value); };
  if (map.rank == 0 || map.rank > TensorMap::most_rank)
    return "it has " + text(map.rank) + " dimensions, not 1 to 5";
  if (map.type >= TensorType::count) return "no such type of elements";
  if (map.swizzle >= Swizzle::count) return "no such swizzle";
  if (map.address % 16 != 0) return "its tensor begins at an address that is no multiple of 16";
  for (unsigned d = 0; d < map.rank; ++d) {
    const std::string in_dimension = " in dimension " + text(d);
    if (map.size[d] == 0 || map.size[d] > std::uint64_t{1} << 32)
      return "it has " + text(map.size[d]) + " elements" + in_dimension + ", not 1 to 2^32";
    if (map.box[d] == 0 || map.box[d] > TensorMap::most_box)
      return "its box has " + text(map.box[d]) + " elements" + in_dimension + ", not 1 to 256";
    if (map.step[d] == 0 || map.step[d] > TensorMap::most_step)
      return "its element stride" + in_dimension + " is " + text(map.step[d]) + ", not 1 to 8";
    if (d > 0 && (map.stride[d] % 16 != 0 || map.stride[d] >= std::uint64_t{1} << 36))
      return "its stride" + in_dimension + " is " + text(map.stride[d]) +
             " bytes, no multiple of 16 below 2^36";
  }
  if (map.fills_nan && !is_float(map.type)) return "only floats are filled with NaN";
  if (map.is_im2col || map.interleave != 0) return "";
  if (map.box_bytes() > TensorMap::most_bytes)
    return "its box has " + text(map.box_bytes()) + " bytes, more than shared memory has";
  const std::uint32_t row = map.row_bytes(), span = span_of(map.swizzle);
  const std::string rows = "rows of its box have " + text(row) + " bytes, ";
  if (row % 16 != 0) return rows + "which are no multiple of 16";
  if (map.swizzle != Swizzle::none && row > span)
    return rows + "more than its swizzle of " + text(span) + " bytes";
  return "";
}

std::string not_modelled(const TensorMap& map) {
  if (map.is_im2col) return "im2col mode is not modelled in this release: use tiles";
  if (map.interleave != 0)
    return "interleaved layouts are not modelled in this release: use "
           "CU_TENSOR_MAP_INTERLEAVE_NONE";
  if (map.type == TensorType::f32_flushed || map.type == TensorType::tf32_flushed)
    return "types that flush subnormals are not modelled in this release: use those that keep them";
  if (map.swizzle != Swizzle::none && map.row_bytes() < span_of(map.swizzle))
    return "rows of its box have " + std::to_string(map.row_bytes()) +
           " bytes, fewer than its swizzle of " + std::to_string(span_of(map.swizzle)) +
           " bytes, which is not modelled in this release: fill the rows";
  return "";
}

std::string mistake_in_bytes(const TensorMap::Bytes& bytes) {
  Words words;
  std::memcpy(words.data(), bytes.data(), bytes.size());
  const TensorMap map = map_of(words);
  const bool has_fields = map.rank <= TensorMap::most_rank && map.type < TensorType::count;
  // A map whose sizes, box or rank a program replaces keeps its words about the whole tensor, and
  // its other dimensions.
  const auto without_sums = [](Words of) {
    of[field::is_wide.word] &= ~(field::is_wide.mask() << field::is_wide.low);
    of[field::moved_bytes.word] = 0;
    return of;
  };
  Words whole = words;
  whole[field::rank_less_one.word] &= ~(field::rank_less_one.mask() << field::rank_less_one.low);
  field::rank_less_one.put(whole, TensorMap::most_rank - 1);
  if (field::atoms.get(words) != 0)
    return "swizzles with other atoms than 16 bytes are not modelled in this release";
  const bool is_plain = !map.is_im2col && map.interleave == 0;
  if (has_fields && is_plain && without_sums(words_of(map_of(whole))) != without_sums(whole))
    return "these bytes are no tensor map";
  if (!has_fields) return "these bytes are no tensor map";
  const std::string mistake = mistake_in_fields(map);
  return mistake.empty() ? not_modelled(map) : mistake;
}

}  // namespace lockstep::isa
