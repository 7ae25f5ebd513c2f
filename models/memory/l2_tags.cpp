#include "models/memory/l2_tags.hpp"

#include <smmintrin.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "core/memory/round_up.hpp"

namespace lockstep {

L2Tags::L2Tags(std::uint32_t sets, std::uint32_t ways, std::uint32_t stride)
    : ways_(ways),
      row_(static_cast<std::uint32_t>(round_up(ways, 4))),
      stride_shift_(static_cast<std::uint32_t>(std::bit_width(stride)) - 1),
      set_shift_(std::max(1u, static_cast<std::uint32_t>(std::bit_width(sets)) - 1)),
      sets_(sets),
      power_of_two_(std::has_single_bit(sets)),
      tags_(std::size_t{sets} * row_, absent),
      stamps_(tags_.size()),
      lines_(tags_.size()),
      masks_(tags_.size()) {
  for (std::size_t begin = 0; begin < stamps_.size(); begin += row_)
    for (std::size_t way = ways_; way < row_; ++way) stamps_[begin + way] = ~std::uint32_t{0};
}

namespace {

__m128i four(const std::vector<std::uint32_t>& of, std::uint32_t first) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(of.data() + first));
}

/// Bit i: values[begin + i] is `wanted`.  All ways are looked at: where a line is found is anyone's
/// guess, and a branch guessed wrong costs the host more.
std::uint64_t places_of(std::uint32_t wanted, const std::vector<std::uint32_t>& values,
                        std::uint32_t begin, std::uint32_t count) {
  const __m128i all = _mm_set1_epi32(static_cast<int>(wanted));
  std::uint64_t places = 0;
  for (std::uint32_t way = 0; way < count; way += 4) {
    const __m128i equal = _mm_cmpeq_epi32(four(values, begin + way), all);
    places |= std::uint64_t(unsigned(_mm_movemask_ps(_mm_castsi128_ps(equal)))) << way;
  }
  return places;
}

}  // namespace

std::uint32_t L2Tags::find(std::uint32_t line) const {
  const std::uint32_t begin = set_begin(line);
  const std::uint64_t places = places_of(line, tags_, begin, row_);
  return places == 0 ? absent : begin + static_cast<std::uint32_t>(std::countr_zero(places));
}

std::uint32_t L2Tags::victim(std::uint32_t line) const {
  // Free places have stamp 0 and so go first; what only fills up the row has the highest.
  const std::uint32_t begin = set_begin(line);
  __m128i least = four(stamps_, begin);
  for (std::uint32_t way = 4; way < row_; way += 4)
    least = _mm_min_epu32(least, four(stamps_, begin + way));
  least = _mm_min_epu32(least, _mm_shuffle_epi32(least, 0x4e));
  least = _mm_min_epu32(least, _mm_shuffle_epi32(least, 0xb1));
  const std::uint64_t places =
      places_of(static_cast<std::uint32_t>(_mm_cvtsi128_si32(least)), stamps_, begin, row_);
  return begin + static_cast<std::uint32_t>(std::countr_zero(places));
}

void L2Tags::install(std::uint32_t place, std::uint32_t line, bool at_lru) {
  tags_[place] = line;
  lines_[place] = {};
  if (at_lru) {
    stamps_[place] = 1;
  } else {
    touch(place);
  }
}

void L2Tags::write(std::uint32_t place, unsigned sector, std::uint32_t mask, bool dirty) {
  Line& line = lines_[place];
  const auto bit = static_cast<std::uint8_t>(1u << sector);
  if (dirty) line.dirty |= bit;
  if (line.valid & bit) return;
  std::uint32_t& written = masks_[place][sector];
  written = (line.partial & bit) ? written | mask : mask;
  if (written == ~std::uint32_t{0}) {
    line.valid |= bit;
    line.partial &= static_cast<std::uint8_t>(~bit);
  } else {
    line.partial |= bit;
  }
}

void L2Tags::renumber() {
  // The 32-bit clock wrapped: every set keeps its order with small numbers.
  std::vector<std::uint32_t> order(ways_);
  for (std::size_t begin = 0; begin < stamps_.size(); begin += row_) {
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return stamps_[begin + a] < stamps_[begin + b];
    });
    std::uint32_t rank = 1;
    for (const std::uint32_t way : order)
      if (tags_[begin + way] != absent) stamps_[begin + way] = rank++;
  }
  clock_ = ways_ + 1;
}

}  // namespace lockstep
