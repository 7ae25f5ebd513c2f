/// Elements of A and B for sums of aligned terms: numbers in f32, which holds every element
/// exactly, and exponents in 16 bits, two terms side by side.
#pragma once

#include "models/isa/semantics/matrix/terms.hpp"

namespace lockstep::isa::LOCKSTEP_LEVEL {
namespace {

/// A along rows (width 16) or B along columns (width 8).  Exponents as in Terms, of A 127 more: so
/// the exponent of a product is as f32 has it.
template <unsigned width>
struct Factors {
  alignas(64) float value[most_terms][width];
  alignas(64) s16 exponents[most_terms / 2][2 * width];  ///< exponents of terms 2 j and 2 j + 1
};
/// Exponent of zero.
constexpr s16 no_factor = -4096;
template <unsigned width>
constexpr s32 exponent_lift = width == most_rows ? 127 : 0;

/// Two elements in each lane, each at the upper end of its 16 bits.
template <unsigned width>
struct Pairs {
  alignas(64) u32 pair[width];
};
/// Returns the largest magnitude that was seen, in the 15 bits of such an element.
template <class F, unsigned width>
LOCKSTEP_INLINE void split_pairs(Factors<width>& to, unsigned j, const Pairs<width>& from,
                                 s16 (&largest)[2 * width]) {
  constexpr unsigned exponent_bits = F::width - F::mantissa_bits, narrower = 8 - exponent_bits;
  // Multiplication moves the bias, of subnormals too.
  constexpr float lift = __builtin_bit_cast(float, static_cast<u32>(254 - F::bias) << 23);
  constexpr u32 kept = 0x80000000U | (0x7fff0000U >> narrower);
  LOCKSTEP_ACROSS(width) {
    const s32 low = static_cast<s32>(from.pair[i] << 16), high = static_cast<s32>(from.pair[i]);
    const float first = float_of(static_cast<u32>(low >> narrower) & kept);
    const float second = float_of(static_cast<u32>(high >> narrower) & kept);
    to.value[2 * j][i] = narrower == 0 ? first : first * lift;
    to.value[2 * j + 1][i] = narrower == 0 ? second : second * lift;
  }
  const s16* codes = reinterpret_cast<const s16*>(from.pair);
  LOCKSTEP_ACROSS(2 * width) {
    const s16 magnitude = static_cast<s16>(codes[i] & 0x7fff);
    const s16 field = static_cast<s16>(magnitude >> (15 - exponent_bits));
    const s16 normal = field > 1 ? field : s16{1};
    const s16 exponent = static_cast<s16>(normal + (exponent_lift<width> - F::bias));
    to.exponents[j][i] = magnitude == 0 ? no_factor : exponent;
    largest[i] = magnitude > largest[i] ? magnitude : largest[i];
  }
}
template <class F, unsigned width>
LOCKSTEP_INLINE bool some_special(const s16 (&largest)[2 * width]) {
  s16 most = 0;
  LOCKSTEP_ACROSS(2 * width) most = largest[i] > most ? largest[i] : most;
  return most >= F::special << (15 - F::width);
}

/// Exponents from values: of tf32, and of e4m3 as numbers of f16, which has its subnormals as
/// normal numbers.
template <unsigned width>
LOCKSTEP_INLINE void find_exponents(Factors<width>& to, unsigned terms) {
  for (unsigned term = 0; term < terms; ++term) LOCKSTEP_ACROSS(width) {
      const s32 magnitude = static_cast<s32>(bits_of(to.value[term][i]) & 0x7fffffff);
      const s32 field = magnitude >> 23;
      const s32 exponent = (field > 1 ? field : 1) + exponent_lift<width> - 127;
      to.exponents[term / 2][2 * i + term % 2] =
          static_cast<s16>(magnitude == 0 ? no_factor : exponent);
    }
}

/// f16 and bf16.
template <class F, unsigned width>
LOCKSTEP_INLINE bool split_halves(Factors<width>& to, const Words<width>& from, unsigned words) {
  alignas(64) s16 largest[2 * width] = {};
  for (unsigned j = 0; j < words; ++j) {
    Pairs<width> pairs;
    LOCKSTEP_ACROSS(width) pairs.pair[i] = from.word[j][i];
    split_pairs<F>(to, j, pairs, largest);
  }
  return some_special<F, width>(largest);
}
/// fp8: within a group of terms their order does not matter.
template <class F, unsigned width>
LOCKSTEP_INLINE bool split_bytes(Factors<width>& to, const Words<width>& from, unsigned words,
                                 TermOrder order) {
  alignas(64) s16 largest[2 * width] = {};
  const bool by_k = order == TermOrder::by_k;
  for (unsigned j = 0; j < words; ++j) {
    Pairs<width> first, second;
    LOCKSTEP_ACROSS(width) {
      const u32 word = from.word[j][i];
      const u32 low = (word & 0xff) << 8 | (word & 0xff00) << 16;
      const u32 high = (word >> 8 & 0xff00) | (word & 0xff000000U);
      first.pair[i] = by_k ? (word & 0x00ff00ff) << 8 : low;
      second.pair[i] = by_k ? word & 0xff00ff00U : high;
    }
    split_pairs<F>(to, by_k ? 2 * j : j, first, largest);
    split_pairs<F>(to, by_k ? 2 * j + 1 : words + j, second, largest);
  }
  if (F::bias < Float16::bias && !by_k) find_exponents(to, 4 * words);
  return some_special<F, width>(largest);
}
template <unsigned width>
LOCKSTEP_INLINE bool split_words(Factors<width>& to, const Words<width>& from, unsigned words) {
  u32 specials = 0;
  for (unsigned k = 0; k < words; ++k) LOCKSTEP_ACROSS(width) {
      const u32 bits = from.word[k][i] & ~0x1fffU;
      to.value[k][i] = float_of(bits);
      specials |= is_special<Float32>(bits) ? 1U : 0U;
    }
  find_exponents(to, words);
  return specials != 0;
}

/// Returns true if an element is infinity or NaN: then the factors are of no use.
template <unsigned width>
LOCKSTEP_INLINE bool split(Factors<width>& to, const Words<width>& from, unsigned words,
                           MatrixElement element, TermOrder order) {
  switch (element) {
    case MatrixElement::f16:
      return split_halves<Float16>(to, from, words);
    case MatrixElement::bf16:
      return split_halves<BFloat16>(to, from, words);
    case MatrixElement::tf32:
      return split_words(to, from, words);
    case MatrixElement::e4m3:
      return split_bytes<Float8E4M3>(to, from, words, order);
    default:
      return split_bytes<Float8E5M2>(to, from, words, order);
  }
}

}  // namespace
}  // namespace lockstep::isa::LOCKSTEP_LEVEL
