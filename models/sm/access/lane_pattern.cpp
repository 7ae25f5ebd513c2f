#include "models/sm/access/lane_pattern.hpp"

#include <algorithm>
#include <bit>

#include "models/isa/lane_mask.hpp"

namespace lockstep {
namespace {

std::uint32_t lanes_of(std::uint64_t key) {
  return static_cast<std::uint32_t>(key);
}

/// Returns whether each active lane has the same offset as its neighbour at this distance, if the
/// neighbour is active.
bool pairs_agree(const LaneOffsets& offset, std::uint32_t lanes, unsigned distance) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned other = lane ^ distance;
    if ((lanes >> lane & lanes >> other & 1) && offset[lane] != offset[other]) return false;
  }
  return true;
}

/// Words that lanes want of each bank, each word once unless `serial` is set.
class WantedWords {
 public:
  WantedWords(unsigned banks, bool serial)
      : banks_(banks), mask_(std::has_single_bit(banks) ? banks - 1 : 0), serial_(serial) {}

  void add(std::uint32_t word) {
    Bank& bank = of_bank_[mask_ != 0 ? word & mask_ : word % banks_];
    if (!serial_)
      for (unsigned i = bank.last; i != 0; i = before_[i])
        if (words_[i] == word) return;
    words_[++count_] = word;
    before_[count_] = bank.last;
    bank.last = static_cast<std::uint8_t>(count_);
    most_ = std::max<unsigned>(most_, ++bank.words);
  }
  /// Returns the largest number of words of a bank.
  unsigned most() const { return most_; }

 private:
  static constexpr std::size_t most_words = 32 * 4;
  struct Bank {
    std::uint8_t words = 0;
    std::uint8_t last = 0;  ///< number of the bank's last word; 0: none
  };
  const unsigned banks_, mask_;  ///< mask: banks less 1 if they are a power of two
  const bool serial_;
  unsigned count_ = 0, most_ = 0;
  std::array<Bank, 32> of_bank_{};
  // Words by their numbers, which begin with 1, and the word of the same bank before each.
  std::array<std::uint32_t, most_words + 1> words_;
  std::array<std::uint8_t, most_words + 1> before_;
};

/// Returns the cycles that the banks need for these lanes.
unsigned conflict_degree(const LaneOffsets& offset, std::uint64_t key) {
  const std::uint32_t lanes = lanes_of(key);
  const unsigned banks = key >> 32 & 0xffff, bytes = key >> 48 & 0xff;
  const bool serial = key >> 56 & 1, packs = key >> 57 & 1;
  const unsigned words = std::max(1u, bytes / 4);
  unsigned group = 32 / words;  // lanes served together
  if (packs && words > 1 && (pairs_agree(offset, lanes, 1) || pairs_agree(offset, lanes, 2)))
    group *= 2;
  unsigned degree = 0;
  for (unsigned first = 0; first < 32; first += group) {
    WantedWords wanted(banks, serial);
    isa::for_each_lane(lanes & isa::lanes_from(first, group), [&](unsigned lane) {
      for (unsigned w = 0; w < words; ++w) wanted.add(offset[lane] / 4 + w);
    });
    degree += wanted.most();
  }
  return std::max(1u, degree);
}

LanePattern::Shape shape_of(const LaneOffsets& relative, std::uint32_t lanes) {
  if (lanes != 0xffffffff) return LanePattern::scattered;
  const __m128i steps = _mm_set_epi32(12, 8, 4, 0);
  __m128i no_neighbours = _mm_setzero_si128(), not_one = no_neighbours;
  for (unsigned lane = 0; lane < 32; lane += 4) {
    const __m128i four = _mm_loadu_si128(reinterpret_cast<const __m128i*>(&relative[lane]));
    const __m128i first = _mm_shuffle_epi32(four, 0);
    no_neighbours = _mm_or_si128(no_neighbours, _mm_xor_si128(four, _mm_add_epi32(first, steps)));
    not_one = _mm_or_si128(not_one, _mm_xor_si128(four, first));
  }
  return _mm_testz_si128(no_neighbours, no_neighbours) != 0 ? LanePattern::quads_of_neighbours
         : _mm_testz_si128(not_one, not_one) != 0           ? LanePattern::quads_of_one
                                                            : LanePattern::scattered;
}

/// Returns the difference of each lane's address to the first active one's; zero where inactive.
LaneOffsets relative_to_first(const std::uint32_t* address, std::uint32_t lanes) {
  const __m128i base = _mm_set1_epi32(static_cast<int>(address[std::countr_zero(lanes)]));
  const __m128i bits = _mm_set_epi32(8, 4, 2, 1);
  LaneOffsets relative;
  for (unsigned lane = 0; lane < 32; lane += 4) {
    const __m128i four = _mm_set1_epi32(static_cast<int>(lanes >> lane));
    const __m128i active = _mm_cmpeq_epi32(_mm_and_si128(four, bits), bits);
    const auto* from = reinterpret_cast<const __m128i*>(address + lane);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(&relative[lane]),
                     _mm_and_si128(_mm_sub_epi32(_mm_loadu_si128(from), base), active));
  }
  return relative;
}

}  // namespace

void match_pattern(LanePattern& pattern, std::uint64_t key, const std::uint32_t* address,
                   std::uint32_t base) {
  const std::uint32_t lanes = lanes_of(key);
  const LaneOffsets relative = relative_to_first(address, lanes);
  const bool by_words = base % 4 == 0;
  if (by_words && pattern.key == key && pattern.relative == relative) return;
  pattern = {};
  pattern.key = by_words ? key : 0;
  pattern.relative = relative;
  pattern.shape = shape_of(relative, lanes);
  LaneOffsets offset;
  for (unsigned lane = 0; lane < 32; ++lane) {
    offset[lane] = base + relative[lane];
    pattern.low_bits |= relative[lane];
    pattern.least = std::min(pattern.least, static_cast<std::int32_t>(relative[lane]));
    pattern.most = std::max(pattern.most, static_cast<std::int32_t>(relative[lane]));
  }
  pattern.degree = conflict_degree(offset, key);
}

}  // namespace lockstep
