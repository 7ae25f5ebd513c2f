#include "models/memory/l2_tags.hpp"

#include <emmintrin.h>

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
      masks_(tags_.size()) {}

std::uint32_t L2Tags::find(std::uint32_t line) const {
  const std::uint32_t begin = set_begin(line);
  const __m128i wanted = _mm_set1_epi32(static_cast<int>(line));
  for (std::uint32_t way = 0; way < row_; way += 4) {
    const __m128i tags =
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(tags_.data() + begin + way));
    const int equal = _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(tags, wanted)));
    if (equal != 0)
      return begin + way + static_cast<std::uint32_t>(std::countr_zero(unsigned(equal)));
  }
  return absent;
}

std::uint32_t L2Tags::victim(std::uint32_t line) const {
  // Free places have stamp 0 and so go first.
  const auto begin = stamps_.begin() + set_begin(line);
  return static_cast<std::uint32_t>(std::min_element(begin, begin + ways_) - stamps_.begin());
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
