#include "models/memory/l2/l2_tags.hpp"

#include <smmintrin.h>

#include <algorithm>
#include <bit>

#include "core/memory/round_up.hpp"

namespace lockstep {
namespace {

constexpr std::uint32_t vector_ways = 8;  ///< ways compared at once

__m128i load_ages(const std::uint8_t* from) {
  return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
}

/// Returns a mask: bit i says whether byte i of the first `vector_ways` is all ones.
std::uint64_t ways_of(__m128i equal) {
  return unsigned(_mm_movemask_epi8(equal)) & 0xff;
}

/// Returns a mask: bit i says whether tags[i] is `wanted`. All ways are looked at, since no branch
/// can predict where a line is found.
std::uint64_t ways_with(std::uint32_t wanted, const std::uint32_t* tags, std::uint32_t count) {
  const __m128i all = _mm_set1_epi32(static_cast<int>(wanted));
  const auto equal = [&](const std::uint32_t* four) {
    return _mm_cmpeq_epi32(_mm_load_si128(reinterpret_cast<const __m128i*>(four)), all);
  };
  std::uint64_t ways = 0;
  for (std::uint32_t way = 0; way < count; way += vector_ways) {
    const __m128i halves = _mm_packs_epi32(equal(tags + way), equal(tags + way + 4));
    ways |= ways_of(_mm_packs_epi16(halves, halves)) << way;
  }
  return ways;
}

}  // namespace

L2Tags::L2Tags(std::uint32_t sets, std::uint32_t ways, std::uint32_t stride)
    : ways_(ways),
      padded_ways_(static_cast<std::uint32_t>(round_up(ways, vector_ways))),
      stride_shift_(static_cast<std::uint32_t>(std::bit_width(stride)) - 1),
      set_shift_(std::max(1u, static_cast<std::uint32_t>(std::bit_width(sets)) - 1)),
      sets_(sets),
      power_of_two_(std::has_single_bit(sets)),
      ages_at_(padded_ways_ * sizeof(std::uint32_t)),
      lines_at_(ages_at_ + padded_ways_),
      set_bytes_(round_up(lines_at_ + ways * sizeof(Line), cache_line_bytes)),
      sets_bytes_(sets * set_bytes_),
      masks_(std::size_t{sets} * ways),
      dirty_(sets, 0) {
  for (std::uint32_t number = 0; number < sets; ++number) {
    // Fills the tags: no line has the number `absent`.
    std::fill_n(set(number), ages_at_, std::byte{0xff});
    // Free places go first, the lowest before others.
    for (std::uint32_t way = 0; way < padded_ways_; ++way)
      ages_of(number * most_ways)[way] =
          static_cast<std::uint8_t>(way < ways ? ways - 1 - way : 0xff);
  }
}

std::uint32_t L2Tags::find(std::uint32_t line) const {
  const std::uint32_t begin = set_begin(line);
  const std::uint64_t found = ways_with(line, tags_of(begin), padded_ways_);
  return found == 0 ? absent : begin + static_cast<std::uint32_t>(std::countr_zero(found));
}

std::uint32_t L2Tags::victim(std::uint32_t line) const {
  const std::uint32_t begin = set_begin(line);
  const __m128i oldest = _mm_set1_epi8(static_cast<char>(ways_ - 1));
  std::uint64_t found = 0;
  for (std::uint32_t way = 0; way < padded_ways_; way += vector_ways) {
    found |= ways_of(_mm_cmpeq_epi8(load_ages(ages_of(begin) + way), oldest)) << way;
  }
  return begin + static_cast<std::uint32_t>(std::countr_zero(found));
}

std::uint32_t L2Tags::oldest_dirty(std::uint32_t begin) const {
  const std::uint8_t* ages = ages_of(begin);
  std::uint32_t oldest = 0, most = 0;
  for (std::uint64_t rest = dirty_[set_number(begin)]; rest != 0; rest &= rest - 1) {
    const auto way = static_cast<std::uint32_t>(std::countr_zero(rest));
    if (ages[way] < most) continue;
    most = ages[way];
    oldest = way;
  }
  return begin + oldest;
}

void L2Tags::touch(std::uint32_t place) {
  std::uint8_t* ages = ages_of(place);
  const std::uint8_t before = ages[way_of(place)];
  if (before == 0) return;
  const __m128i last_younger = _mm_set1_epi8(static_cast<char>(before - 1));
  for (std::uint32_t way = 0; way < padded_ways_; way += vector_ways) {
    const __m128i age = load_ages(ages + way);
    // A true lane has all bits set, which is -1: the subtraction makes younger lines older by 1.
    const __m128i younger = _mm_cmpeq_epi8(_mm_min_epu8(age, last_younger), age);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(ages + way), _mm_sub_epi8(age, younger));
  }
  ages[way_of(place)] = 0;
}

/// Ages a place that was just used behind places younger than `age`.
void L2Tags::make_older(std::uint32_t place, std::uint8_t age) {
  std::uint8_t* ages = ages_of(place);
  for (std::uint32_t way = 0; way < ways_; ++way)
    if (ages[way] <= age && way != way_of(place)) --ages[way];
  ages[way_of(place)] = age;
}

void L2Tags::install(std::uint32_t place, std::uint32_t line, CachePosition position) {
  tag_at(place) = line;
  (*this)[place] = {};
  clean(place);
  touch(place);
  if (position == CachePosition::usual || position == CachePosition::most_recent) return;
  const std::uint32_t* tags = tags_of(place);
  const auto others = static_cast<std::uint8_t>(ways_ - 1 - std::count(tags, tags + ways_, absent));
  make_older(place, position == CachePosition::middle ? others / 2 : others);
}

void L2Tags::write(std::uint32_t place, unsigned sector, std::uint32_t mask, bool dirty) {
  Line& line = (*this)[place];
  const unsigned bit = 1u << sector;
  if (dirty) make_dirty(place, static_cast<std::uint8_t>(bit));
  if (line.valid & bit) return;
  constexpr std::uint32_t all_bytes = ~std::uint32_t{0};
  if (mask != all_bytes) {
    std::uint32_t& written = masks_[place / most_ways * ways_ + way_of(place)][sector];
    mask = written = (line.partial & bit) ? written | mask : mask;
  }
  if (mask == all_bytes) {
    line.valid |= bit;
    line.partial &= ~bit;
  } else {
    line.partial |= bit;
  }
}

void L2Tags::serialize(Archive& archive) {
  for (std::uint32_t number = 0; number < sets_; ++number)
    for (std::uint32_t place = number * most_ways; place < number * most_ways + ways_; ++place)
      archive(tag_at(place), ages_of(place)[way_of(place)], (*this)[place]);
  archive(masks_);
  for (std::uint32_t number = 0; number < sets_; ++number) {  // rebuilds the flags from the lines
    dirty_[number] = 0;
    for (std::uint32_t place = number * most_ways; place < number * most_ways + ways_; ++place)
      if ((*this)[place].dirty != 0) dirty_[number] |= bit_of(place);
  }
}

}  // namespace lockstep
