#pragma once

#include <immintrin.h>

#include <array>
#include <cstdint>

#include "core/id/id.hpp"

namespace lockstep {

/// Computes neighbouring blocks of random_block() together, a block in each 64-bit lane of a
/// vector: two at a time, or four on a processor with AVX2.
class PhiloxLanes {
 public:
  static constexpr std::uint64_t blocks = 4;
  using Words = std::array<std::array<std::uint32_t, 4>, blocks>;

  PhiloxLanes(std::uint64_t seed, ComponentId component, std::uint32_t purpose)
      : seed_(seed), component_(component.value()), purpose_(purpose) {}

  /// Returns the blocks `group * blocks` and following ones.
  Words at(std::uint64_t group) const {
    return __builtin_cpu_supports("avx2") ? at_v3(group) : at_v2(group);
  }
  Words at_v2(std::uint64_t group) const {
    const Pair first = two_blocks(group * blocks), second = two_blocks(group * blocks + 2);
    return {first[0], first[1], second[0], second[1]};
  }
  /// Precondition: the processor has AVX2.
  [[gnu::target("avx2")]] Words at_v3(std::uint64_t group) const {
    const std::uint64_t counter = group * blocks;
    __m256i a = _mm256_setr_epi64x(0, 1, 2, 3);
    a = _mm256_add_epi32(a, _mm256_set1_epi32(static_cast<int>(counter)));
    __m256i b = _mm256_set1_epi32(static_cast<int>(counter >> 32));
    __m256i c = _mm256_set1_epi32(static_cast<int>(component_));
    __m256i d = _mm256_set1_epi32(static_cast<int>(purpose_));
    __m256i low_key = _mm256_set1_epi32(static_cast<int>(seed_));
    __m256i high_key = _mm256_set1_epi32(static_cast<int>(seed_ >> 32));
    const __m256i factor_a = _mm256_set1_epi32(static_cast<int>(0xd2511f53));
    const __m256i factor_c = _mm256_set1_epi32(static_cast<int>(0xcd9e8d57));
    const __m256i low_step = _mm256_set1_epi32(static_cast<int>(0x9e3779b9));
    const __m256i high_step = _mm256_set1_epi32(static_cast<int>(0xbb67ae85));
// Unrolled, each round would make its keys anew.
#pragma GCC unroll 1
    for (int round = 0; round < 10; ++round) {
      const __m256i of_a = _mm256_mul_epu32(a, factor_a);
      const __m256i of_c = _mm256_mul_epu32(c, factor_c);
      a = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(of_c, 32), b), low_key);
      b = of_c;
      c = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(of_a, 32), d), high_key);
      d = of_a;
      low_key = _mm256_add_epi32(low_key, low_step);
      high_key = _mm256_add_epi32(high_key, high_step);
    }
    // A lane of `ab` has the first two words of its block, and one of `cd` the others.
    const __m256i ab = _mm256_blend_epi32(a, _mm256_slli_epi64(b, 32), 0b10101010);
    const __m256i cd = _mm256_blend_epi32(c, _mm256_slli_epi64(d, 32), 0b10101010);
    const __m256i even = _mm256_unpacklo_epi64(ab, cd), odd = _mm256_unpackhi_epi64(ab, cd);
    Words words;
    const auto place = reinterpret_cast<__m256i*>(words.data());
    _mm256_storeu_si256(place, _mm256_permute2x128_si256(even, odd, 0x20));
    _mm256_storeu_si256(place + 1, _mm256_permute2x128_si256(even, odd, 0x31));
    return words;
  }

 private:
  using Pair = std::array<std::array<std::uint32_t, 4>, 2>;

  /// Returns a word in the low half of both lanes.
  static __m128i both(std::uint32_t word) {
    return _mm_set1_epi32(static_cast<int>(word));
  }

  /// Computes the blocks `counter`, an even number, and `counter` + 1.  Only the low half of each
  /// 64-bit lane means something, except in products.
  Pair two_blocks(std::uint64_t counter) const {
    __m128i a = _mm_add_epi32(both(static_cast<std::uint32_t>(counter)), _mm_set_epi32(0, 1, 0, 0));
    __m128i b = both(static_cast<std::uint32_t>(counter >> 32));
    __m128i c = both(component_), d = both(purpose_);
    auto low_key = static_cast<std::uint32_t>(seed_);
    auto high_key = static_cast<std::uint32_t>(seed_ >> 32);
    for (int round = 0; round < 10; ++round) {
      const __m128i of_a = _mm_mul_epu32(a, both(0xd2511f53));
      const __m128i of_c = _mm_mul_epu32(c, both(0xcd9e8d57));
      a = _mm_xor_si128(_mm_xor_si128(_mm_srli_epi64(of_c, 32), b), both(low_key));
      b = of_c;
      c = _mm_xor_si128(_mm_xor_si128(_mm_srli_epi64(of_a, 32), d), both(high_key));
      d = of_a;
      low_key += 0x9e3779b9;
      high_key += 0xbb67ae85;
    }
    return joined(low_halves(a, b), low_halves(c, d));
  }

  /// Returns the low halves of the lanes of x and y in turn.
  static __m128i low_halves(__m128i x, __m128i y) {
    return _mm_blend_epi16(x, _mm_slli_epi64(y, 32), 0b11001100);
  }

  /// Returns two blocks of which the lanes of `ab` and `cd` hold two words each.
  static Pair joined(__m128i ab, __m128i cd) {
    Pair pair;
    _mm_storeu_si128(reinterpret_cast<__m128i*>(pair[0].data()), _mm_unpacklo_epi64(ab, cd));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(pair[1].data()), _mm_unpackhi_epi64(ab, cd));
    return pair;
  }

  std::uint64_t seed_;
  std::uint32_t component_, purpose_;
};

}  // namespace lockstep
