/// Sums of products of ordinary numbers as in tensor cores (see matrix/plan.hpp): all terms aligned
/// to the largest exponent, truncated, added exactly, and rounded once.
///
/// f32 multiplies significands exactly, and scaling by 2^(fraction - e), a power of two made from
/// its bits, is exact: truncation to an integer gives the term in units of the sum.  There are no
/// shifts by variables and no branches.  A column in which a value leaves the range of f32 is
/// called rare and is left to fused_sums.hpp.
#pragma once

#include "models/isa/semantics/matrix/factors.hpp"
#include "models/isa/semantics/matrix/vectors.hpp"

namespace lockstep::isa::LOCKSTEP_LEVEL {
namespace {

struct FusedSum {
  s32 fraction = 0;
  bool short_result = false;
};

/// Biased exponents. If all terms of a sum are below `least_of_sum`, the sum is C alone, or a rare
/// case; products above `most_product` may be infinite.
constexpr s32 least_of_sum = 127 - 80, most_product = 127 + 126, no_product = -2048;

/// Terms, from a given one on, that a vector of rows adds for a column.
struct TermsFrom {
  const float *a, *b;
  const s16 *a_exponents, *b_exponents;

  TermsFrom(const Factors<most_rows>& left, const Factors<most_columns>& right, unsigned row,
            unsigned column)
      : a(&left.value[0][row]),
        b(&right.value[0][column]),
        a_exponents(&left.exponents[0][2 * row]),
        b_exponents(&right.exponents[0][2 * column]) {}
  LOCKSTEP_INLINE void skip(unsigned terms) {
    a += terms * most_rows;
    b += terms * most_columns;
    a_exponents += terms * most_rows;
    b_exponents += terms * most_columns;
  }
};

/// Returns the largest exponent of the products.
template <unsigned group>
LOCKSTEP_INLINE Ints largest_product(const TermsFrom& at) {
  Shorts most = reinterpret_cast<Shorts>(everywhere(no_product * 0x10001));
#pragma GCC unroll 16
  for (unsigned j = 0; j < group / 2; ++j) {
    s32 pair = 0;
    __builtin_memcpy(&pair, at.b_exponents + j * 2 * most_columns, sizeof pair);
    most = larger_of<Shorts>(most, load_vector<Shorts>(at.a_exponents + j * 2 * most_rows) +
                                       reinterpret_cast<Shorts>(everywhere(pair)));
  }
  const Ints pairs = reinterpret_cast<Ints>(most);
  return larger_of<Ints>((pairs << 16) >> 16, pairs >> 16);
}

/// C as a number with its exponent.
struct Addend {
  Floats value;
  Ints exponent;
};
/// Zero has the least exponent, which is below that of every product that counts.
template <class F>
LOCKSTEP_INLINE Addend addend_of(Ints code, Ints& rare) {
  if constexpr (F::mantissa_bits == 23) {
    const Ints field =
        reinterpret_cast<Ints>(reinterpret_cast<Naturals>(wrapped_sum(code, code)) >> 24);
    const Ints special = field == 0xff;
    rare |= special;
    return {reinterpret_cast<Floats>(code & ~special), field};
  } else {
    const Ints magnitude = code & 0x7fff, special = magnitude >= 0x7c00;
    const Ints sign = (code & 0x8000) << 16;
    rare |= special;
    const Ints field = larger_of<Ints>(magnitude >> 10, everywhere(1)) + (127 - 15);
    const Floats value = reinterpret_cast<Floats>((magnitude & ~special) << 13) * 0x1p112F;
    return {reinterpret_cast<Floats>(reinterpret_cast<Ints>(value) | sign),
            field & (magnitude != 0)};
  }
}

/// Sums of 32 bits; where one overflows the column is rare.
LOCKSTEP_INLINE Ints added(Ints a, Ints b, Ints& rare) {
  const Ints sum = wrapped_sum(a, b);
  rare |= (a ^ sum) & (b ^ sum) & static_cast<s32>(0x80000000U);
  return sum;
}
/// Eight terms below 2^27 and one more fit in 32 bits; in a rare column they may not.
template <unsigned count>
LOCKSTEP_INLINE Ints sum_of_terms(const TermsFrom& at, unsigned first, Floats scale, Ints sum) {
#pragma GCC unroll 8
  for (unsigned k = first; k < first + count; ++k)
    sum = wrapped_sum(sum, truncated(load_vector<Floats>(at.a + k * most_rows) *
                                     everywhere(at.b[k * most_columns]) * scale));
  return sum;
}
template <unsigned group>
LOCKSTEP_INLINE Ints sum_of_group(const TermsFrom& at, Floats scale, Ints addend, Ints& rare) {
  constexpr unsigned part = group < 8 ? group : 8;
  Ints sum = sum_of_terms<part>(at, 0, scale, addend);
  for (unsigned first = part; first < group; first += part)
    sum = added(sum, sum_of_terms<part>(at, first, scale, Ints{}), rare);
  return sum;
}

/// Returns a magnitude below 2^31 as an f32 truncated to 24 bits: with the bit below them cleared,
/// rounding to nearest is rounding down.
LOCKSTEP_INLINE Floats truncated_to_24(Ints magnitude) {
  return as_floats(magnitude & ~(magnitude >> 24));
}
/// Returns the nearest f16 of an f32 that is not negative; an inexact f32 has an odd last bit.
LOCKSTEP_INLINE Ints nearest_half(Floats value) {
  const Ints field = reinterpret_cast<Ints>(value) >> 23;
  const Floats magic =
      reinterpret_cast<Floats>((larger_of<Ints>(field, everywhere(127 - 14)) + 13) << 23);
  const Floats rounded = (value + magic) - magic;
  const Ints normal = (reinterpret_cast<Ints>(rounded) >> 13) - (112 << 10);
  const Ints subnormal = truncated(rounded * 0x1p24F);
  const Ints finite = rounded < 0x1p-14F ? subnormal : normal;
  return rounded < 65536.0F ? finite : everywhere(0x7c00);
}
/// sum * unit, towards zero to f32 or to the nearest f16.
template <class F>
LOCKSTEP_INLINE Ints rounded_sum(Ints sum, Floats unit) {
  const Ints negative = sum >> 31, magnitude = wrapped_difference(sum ^ negative, negative);
  const Floats kept = truncated_to_24(magnitude);
  if constexpr (F::mantissa_bits == 23) {
    return reinterpret_cast<Ints>(kept * unit) | (sum & static_cast<s32>(0x80000000U));
  } else {
    const Ints odd = (truncated(kept) != magnitude) & 1;
    const Floats sticky = reinterpret_cast<Floats>(reinterpret_cast<Ints>(kept) | odd);
    return nearest_half(sticky * unit) | (negative & 0x8000);
  }
}

/// C + the products of a group.
template <unsigned group, class F, bool wide>
LOCKSTEP_INLINE Ints add_group(const TermsFrom& at, Ints c, const FusedSum& how, Ints& rare) {
  const Ints products = largest_product<group>(at);
  const Addend addend = addend_of<F>(c, rare);
  const Ints most = larger_of<Ints>(products, addend.exponent);
  const Ints scale = (how.fraction + 254 - larger_of<Ints>(most, everywhere(least_of_sum))) << 23;
  const Floats scaled = reinterpret_cast<Floats>(scale);
  const Floats unit = reinterpret_cast<Floats>(wrapped_difference(everywhere(254 << 23), scale));
  const Ints sum = sum_of_group<group>(at, scaled, truncated(addend.value * scaled), rare);
  if constexpr (group > 8) rare |= sum == everywhere(static_cast<s32>(0x80000000U));
  Ints number = rounded_sum<F>(sum, unit);
  if constexpr (F::mantissa_bits == 23) {
    const Ints alone = reinterpret_cast<Ints>(reinterpret_cast<Floats>(c) + 0.0F);  // -0 becomes +0
    number = most < least_of_sum ? alone : number;
    number &= how.short_result ? ~0x3ff : ~0;
  }
  if constexpr (wide)
    rare |= ((most < least_of_sum) & (products > no_product)) | (products > most_product);
  return number;
}

/// Returns a mask of those columns where a bit is set.
[[gnu::noinline]] u32 columns_of(const Ints (&rare)[most_columns]) {
  u32 columns = 0;
  for (unsigned n = 0; n < most_columns; ++n) columns |= (any_bit(rare[n]) ? 1U : 0U) << n;
  return columns;
}
/// Computes all columns of D from C.  Returns a mask of rare columns.
template <unsigned group, class F, bool wide>
u32 add_aligned(const Factors<most_rows>& a, const Factors<most_columns>& b, unsigned terms,
                const FusedSum& how, const Results& c, Results& d) {
  Ints rare[most_columns], some = {};
  for (unsigned n = 0; n < most_columns; ++n) {
    rare[n] = Ints{};
    for (unsigned row = 0; row < most_rows; row += vector_lanes) {
      Ints column = load_vector<Ints>(&c.element[n][row]);
      TermsFrom at{a, b, row, n};
      for (unsigned done = 0; done < terms; done += group, at.skip(group))
        column = add_group<group, F, wide>(at, column, how, rare[n]);
      store_vector(&d.element[n][row], column);
    }
    some |= rare[n];
  }
  return any_bit(some) ? columns_of(rare) : 0;
}
template <class F, bool wide>
LOCKSTEP_INLINE u32 add_aligned(const Factors<most_rows>& a, const Factors<most_columns>& b,
                                unsigned terms, unsigned group, const FusedSum& how,
                                const Results& c, Results& d) {
  switch (group) {
    case 4:
      return add_aligned<4, F, wide>(a, b, terms, how, c, d);
    case 8:
      return add_aligned<8, F, wide>(a, b, terms, how, c, d);
    case 16:
      return add_aligned<16, F, wide>(a, b, terms, how, c, d);
    default:
      return add_aligned<32, F, wide>(a, b, terms, how, c, d);
  }
}

}  // namespace
}  // namespace lockstep::isa::LOCKSTEP_LEVEL
