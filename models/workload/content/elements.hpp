#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>

#include "core/error/error.hpp"
#include "core/random/philox_lanes.hpp"
#include "core/random/random.hpp"
#include "models/isa/types.hpp"
#include "models/workload/content/content.hpp"
#include "models/workload/element.hpp"

namespace lockstep {

/// Purpose of random content: one seed gives unrelated numbers to each.
enum class ContentPurpose : std::uint32_t {
  uniform = 0x100,
  normal,
  permutation,
  graph_edges,
  graph_weights,
};

/// Random 64-bit numbers of a purpose, by their index; each block of Philox gives two.
class RandomNumbers {
 public:
  static constexpr std::uint64_t group_size = 2 * PhiloxLanes::blocks;
  /// Numbers whose halves are words of the blocks, the low half first.
  using Group = std::array<std::uint64_t, group_size>;

  RandomNumbers(std::uint64_t seed, ContentPurpose purpose)
      : lanes_(seed, ComponentId{}, static_cast<std::uint32_t>(purpose)) {}

  std::uint64_t at(std::uint64_t index) {
    if (index / group_size != group_) {
      group_ = index / group_size;
      numbers_ = group(group_);
    }
    return numbers_[index % group_size];
  }
  /// Returns the numbers `number * group_size` and following ones.
  Group group(std::uint64_t number) const { return std::bit_cast<Group>(lanes_.at(number)); }

 private:
  PhiloxLanes lanes_;
  std::uint64_t group_ = ~std::uint64_t{0};
  Group numbers_{};
};

/// Elements are read whole: `size` bytes each.
inline void check_whole_elements(std::uint64_t size, std::uint64_t offset,
                                 std::span<const std::byte> bytes) {
  LOCKSTEP_CHECK(offset % size == 0 && bytes.size() % size == 0, "half an element of a buffer");
}

/// Writes element after element: `element(index, place)` for those that `bytes` covers.
template <class Element>
void for_each_element(isa::Type type, std::uint64_t offset, std::span<std::byte> bytes,
                      const Element& element) {
  const std::uint64_t size = isa::bytes_of(type);
  check_whole_elements(size, offset, bytes);
  std::uint64_t index = offset / size;
  for (std::size_t at = 0; at < bytes.size(); at += size) element(index++, bytes.data() + at);
}

/// Writes the low bytes of an integer.
inline void put_integer(isa::Type type, std::uint64_t value, std::byte* place) {
  std::memcpy(place, &value, isa::bytes_of(type));
}

/// Writes a real number; most buffers have elements of type f32.
inline void put_real(isa::Type type, double value, std::byte* place) {
  if (type != isa::Type::f32) return store_element(type, value, place);
  const auto rounded = static_cast<float>(value);
  std::memcpy(place, &rounded, sizeof rounded);
}

/// Throws UserError at the initial content unless the buffer can hold `value`.
inline void check_fits(const Buffer& buffer, double value) {
  if (fits(buffer.type, value)) return;
  throw UserError(buffer.initial.where,
                  "buffer " + buffer.name + " of " + element_type_name(buffer.type) +
                      " cannot hold " + number_text(value),
                  "choose a wider type or other numbers");
}

}  // namespace lockstep
