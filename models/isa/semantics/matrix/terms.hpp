/// Matrices of one step m16n8 as arrays that vectorise: the words of the registers in order, and
/// floating-point elements as significands and exponents.
#pragma once

#include "models/isa/matrix/fragment.hpp"
#include "models/isa/semantics/half.hpp"

/// Rows of A and C, or columns of B: nothing that is written is read.
#define LOCKSTEP_ACROSS(width) \
  _Pragma("GCC ivdep") _Pragma("GCC unroll 1") for (unsigned i = 0; i < (width); ++i)

namespace lockstep::isa::LOCKSTEP_LEVEL {
namespace {

constexpr unsigned most_rows = 16, most_columns = 8;
constexpr unsigned most_words = 8;   ///< words along k
constexpr unsigned most_terms = 32;  ///< floating-point elements along k

/// Words of A by k and row (width 16), or of B by k and column (width 8).
template <unsigned width>
struct Words {
  alignas(64) u32 word[most_words][width];
};
/// C or D by column and row: the bits of each element.
struct Results {
  alignas(64) u32 element[most_columns][most_rows];
};

/// A format of `E` exponent and `M` mantissa bits, in the low bits of a word.
template <unsigned E, unsigned M, bool infinities = true>
struct Format {
  static constexpr unsigned mantissa_bits = M, width = E + M;  ///< bits without the sign
  static constexpr u32 sign = 1U << width;
  static constexpr s32 fraction_mask = (1 << M) - 1, bias = (1 << (E - 1)) - 1;
  /// Magnitudes from `special` on are infinite or NaN; above `infinity` they are NaN.
  static constexpr s32 infinity = ((1 << E) - 1) << M;
  static constexpr s32 special = infinities ? infinity : static_cast<s32>(sign - 1);
};
using Float32 = Format<8, 23>;
using Float16 = Format<5, 10>;
using BFloat16 = Format<8, 7>;
using TensorFloat32 = Format<8, 10>;  ///< upper 19 bits of an f32
using Float8E4M3 = Format<4, 3, false>;
using Float8E5M2 = Format<5, 2>;

/// Exponent of zero: so low that a term with it is never the largest.
constexpr s32 no_exponent = -4096;
/// Below the exponent of any product.
constexpr s32 least_exponent = -300;

template <class F>
LOCKSTEP_INLINE bool is_special(u32 code) {
  return static_cast<s32>(code & (F::sign - 1)) >= F::special;
}
/// A number is significand * 2^exponent; the significand is in [1, 2), of a subnormal in (0, 1),
/// and has the sign.  Infinity and NaN become zero here: see kind_of.
template <class F>
LOCKSTEP_INLINE float significand_of(u32 code) {
  const s32 magnitude = static_cast<s32>(code & (F::sign - 1));
  const s32 hidden = magnitude > F::fraction_mask ? F::fraction_mask + 1 : 0;
  const s32 whole = hidden | (magnitude & F::fraction_mask);
  constexpr float unit = 1.0F / (1U << F::mantissa_bits);
  const float absolute = static_cast<float>(magnitude >= F::special ? 0 : whole) * unit;
  return float_of(bits_of(absolute) | (code & F::sign) << (31 - F::width));
}
template <class F>
LOCKSTEP_INLINE s32 exponent_of(u32 code) {
  const s32 magnitude = static_cast<s32>(code & (F::sign - 1));
  const s32 field = magnitude >> F::mantissa_bits;
  const s32 exponent = (field > 1 ? field : 1) - F::bias;
  return magnitude == 0 || magnitude >= F::special ? no_exponent : exponent;
}
/// Replaces a number by its kind with its sign: zero, one, infinity or NaN.  Products and sums of
/// kinds are infinite or NaN exactly where those of the numbers are.
template <class F>
LOCKSTEP_INLINE float kind_of(u32 code) {
  const s32 magnitude = static_cast<s32>(code & (F::sign - 1));
  const u32 sign = (code & F::sign) << (31 - F::width);
  const bool nan = F::special == F::infinity ? magnitude > F::infinity : magnitude >= F::special;
  const u32 special = nan ? canonical_nan32 : 0x7f800000U;
  const u32 finite = magnitude == 0 ? 0U : 0x3f800000U;
  return float_of(sign | (magnitude >= F::special ? special : finite));
}

/// A along rows (width 16) or B along columns (width 8), by k.
template <unsigned width>
struct Terms {
  alignas(64) float significand[most_terms][width];
  alignas(64) s32 exponent[most_terms][width];
  alignas(64) float kind[most_terms][width];
};

/// Order in which elements of words become terms.
enum class TermOrder {
  by_k,
  by_halves,  ///< elements of all low halves, then those of all high halves
};
template <unsigned parts>
LOCKSTEP_INLINE unsigned term_of(unsigned word, unsigned part, unsigned words, TermOrder order) {
  if (order == TermOrder::by_k) return parts * word + part;
  constexpr unsigned half = parts / 2;
  return part < half ? half * word + part : half * (words + word) + (part - half);
}
template <unsigned parts, class F>
LOCKSTEP_INLINE u32 code_in(u32 word, unsigned part) {
  if constexpr (parts == 1) return word >> (31 - 8 - F::mantissa_bits);
  return word >> part * (32 / parts);
}

/// Subnormals get the exponents that they have as numbers of f16.
LOCKSTEP_INLINE void normalise(float& significand, s32& exponent) {
  const u32 bits = bits_of(significand);
  const s32 lift = static_cast<s32>(bits >> 23 & 0xff) - 127;
  const bool zero = significand == 0;
  exponent = zero ? exponent : exponent + lift;
  significand = zero ? significand : float_of((bits & 0x807fffffU) | 0x3f800000U);
}

template <class F, unsigned parts, unsigned width>
LOCKSTEP_INLINE void split_as(Terms<width>& to, const Words<width>& from, unsigned words,
                              TermOrder order) {
  for (unsigned k = 0; k < words; ++k)
    for (unsigned part = 0; part < parts; ++part) {
      const unsigned term = term_of<parts>(k, part, words, order);
      LOCKSTEP_ACROSS(width) {
        const u32 code = code_in<parts, F>(from.word[k][i], part);
        to.significand[term][i] = significand_of<F>(code);
        to.exponent[term][i] = exponent_of<F>(code);
        to.kind[term][i] = kind_of<F>(code);
      }
      if (F::bias < Float16::bias && order == TermOrder::by_halves) LOCKSTEP_ACROSS(width)
      normalise(to.significand[term][i], to.exponent[term][i]);
    }
}
template <unsigned width>
void split(Terms<width>& to, const Words<width>& from, unsigned words, MatrixElement element,
           TermOrder order) {
  switch (element) {
    case MatrixElement::f16:
      return split_as<Float16, 2>(to, from, words, order);
    case MatrixElement::bf16:
      return split_as<BFloat16, 2>(to, from, words, order);
    case MatrixElement::tf32:
      return split_as<TensorFloat32, 1>(to, from, words, order);
    case MatrixElement::e4m3:
      return split_as<Float8E4M3, 4>(to, from, words, order);
    default:
      return split_as<Float8E5M2, 4>(to, from, words, order);
  }
}

}  // namespace
}  // namespace lockstep::isa::LOCKSTEP_LEVEL
