/// Sums of products as tensor cores make them (see matrix/plan.hpp), for all operands: infinity,
/// NaN, and numbers at the ends of the range of f32 included.  For ordinary numbers
/// aligned_sums.hpp computes the same faster.
#pragma once

#include <utility>

#include "models/isa/semantics/matrix/aligned_sums.hpp"

namespace lockstep::isa::LOCKSTEP_LEVEL {
namespace {

/// Column of addends in front of a group's products, C or the sum of the groups before; or of
/// results.
struct Column {
  alignas(64) u32 bits[most_rows];
};

template <unsigned... values>
struct Numbers {};
template <class Sequence>
struct NumbersOf;
template <class T, T... values>
struct NumbersOf<std::integer_sequence<T, values...>> {
  using type = Numbers<values...>;
};
template <unsigned count>
using FirstNumbers = typename NumbersOf<std::make_integer_sequence<unsigned, count>>::type;

/// 2^(exponent - 127); below 2^-60 nothing is left of a term.
LOCKSTEP_INLINE float power_of_two(s32 exponent) {
  return float_of(static_cast<u32>(exponent > 67 ? exponent : 67) << 23);
}
LOCKSTEP_INLINE s32 larger(s32 a, s32 b) {
  return a > b ? a : b;
}

struct GroupPlace {
  unsigned first, column;  ///< first term, and column of B
};
template <unsigned... k>
LOCKSTEP_INLINE s32 largest_exponent(const Terms<most_rows>& a, const Terms<most_columns>& b,
                                     GroupPlace at, unsigned row, s32 exponent, Numbers<k...>) {
  ((exponent =
        larger(exponent, a.exponent[at.first + k][row] + b.exponent[at.first + k][at.column])),
   ...);
  return exponent;
}
template <unsigned... k>
LOCKSTEP_INLINE s32 truncated_terms(const Terms<most_rows>& a, const Terms<most_columns>& b,
                                    GroupPlace at, unsigned row, s32 shift, Numbers<k...>) {
  s32 sum = 0;
  ((sum += static_cast<s32>(
        a.significand[at.first + k][row] * b.significand[at.first + k][at.column] *
        power_of_two(a.exponent[at.first + k][row] + b.exponent[at.first + k][at.column] + shift))),
   ...);
  return sum;
}

/// C + the products of a group, by rows, before rounding: (sum[0] + sum[1] + ...) * 2^-shift.
/// Eight terms below 2^27 fit in 32 bits.
template <unsigned group>
struct GroupSum {
  static constexpr unsigned part = group < 8 ? group : 8, parts = group / part;
  alignas(64) s32 sum[parts][most_rows], shift[most_rows];
};
template <unsigned group, class F>
LOCKSTEP_INLINE void sum_group(GroupSum<group>& to, const Terms<most_rows>& a,
                               const Terms<most_columns>& b, GroupPlace at, const Column& c,
                               s32 fraction) {
  constexpr unsigned part = GroupSum<group>::part;
  LOCKSTEP_ACROSS(most_rows) {
    const s32 top = larger(exponent_of<F>(c.bits[i]), least_exponent);
    to.shift[i] = fraction - largest_exponent(a, b, at, i, top, FirstNumbers<group>{});
  }
  LOCKSTEP_ACROSS(most_rows) {
    const s32 scale = to.shift[i] + 127;
    const float addend = significand_of<F>(c.bits[i]);
    to.sum[0][i] = static_cast<s32>(addend * power_of_two(exponent_of<F>(c.bits[i]) + scale)) +
                   truncated_terms(a, b, at, i, scale, FirstNumbers<part>{});
  }
  for (unsigned p = 1; p < GroupSum<group>::parts; ++p) {
    const GroupPlace place{at.first + p * part, at.column};
    LOCKSTEP_ACROSS(most_rows)
    to.sum[p][i] = truncated_terms(a, b, place, i, to.shift[i] + 127, FirstNumbers<part>{});
  }
}

/// Rounds towards zero, but to infinity from 2^128 on.
LOCKSTEP_INLINE u32 truncated_float(double value) {
  const u64 sign = bits_of(value) & u64{1} << 63;
  const double magnitude = double_of(bits_of(value) ^ sign);
  const float nearest = static_cast<float>(magnitude);
  const u32 bits = bits_of(nearest) - (static_cast<double>(nearest) > magnitude ? 1U : 0U);
  return (magnitude >= 0x1p128 ? 0x7f800000U : bits) | static_cast<u32>(sign >> 32);
}
/// Rounds by way of f64, which represents every sum exactly.
template <unsigned group, class F>
void round_any(u32* to, const GroupSum<group>& sum) {
  for (unsigned i = 0; i < most_rows; ++i) {
    double total = 0;
    for (unsigned p = 0; p < GroupSum<group>::parts; ++p) total += sum.sum[p][i];
    const double value = total * double_of(static_cast<u64>(s64{1023} - sum.shift[i]) << 52);
    if constexpr (F::mantissa_bits == 23)
      to[i] = truncated_float(value);
    else
      to[i] = narrow_half<F16>(value, Direction{});
  }
}

/// Infinity and NaN of a kind; otherwise the number.
template <class F>
LOCKSTEP_INLINE u32 with_kind(u32 number, float kind) {
  const u32 infinity = static_cast<u32>(F::infinity) | (bits_of(kind) >> 31 != 0 ? F::sign : 0U);
  const bool finite = kind - kind == 0;
  return kind != kind ? F::sign - 1 : finite ? number : infinity;
}

/// Adds the kinds of the terms: where C or a product is infinity or NaN, so is the sum.
template <class F>
LOCKSTEP_INLINE void add_kinds(u32* number, const Terms<most_rows>& a, const Terms<most_columns>& b,
                               GroupPlace at, unsigned group, const Column& c) {
  alignas(64) float kind[most_rows];
  LOCKSTEP_ACROSS(most_rows) kind[i] = kind_of<F>(c.bits[i]);
  for (unsigned k = at.first; k < at.first + group; ++k)
    LOCKSTEP_ACROSS(most_rows) kind[i] += a.kind[k][i] * b.kind[k][at.column];
  LOCKSTEP_ACROSS(most_rows) number[i] = with_kind<F>(number[i], kind[i]);
}
/// column = column + the products of a group, rounded.
template <unsigned group, class F>
LOCKSTEP_INLINE void add_group(const Terms<most_rows>& a, const Terms<most_columns>& b,
                               GroupPlace at, const FusedSum& how, Column& column) {
  GroupSum<group> sum;
  alignas(64) u32 number[most_rows];
  sum_group<group, F>(sum, a, b, at, column, how.fraction);
  round_any<group, F>(number, sum);
  if (how.short_result) LOCKSTEP_ACROSS(most_rows) number[i] &= ~0x3ffU;
  add_kinds<F>(number, a, b, at, group, column);
  __builtin_memcpy(column.bits, number, sizeof number);
}

/// Copies the columns of C whose bits are set to D.
template <unsigned group, class F>
void add_products(const Terms<most_rows>& a, const Terms<most_columns>& b, unsigned terms,
                  const FusedSum& how, u32 columns, const Results& c, Results& d) {
  for (; columns != 0; columns &= columns - 1) {
    const unsigned n = static_cast<unsigned>(__builtin_ctz(columns));
    Column column;
    __builtin_memcpy(column.bits, c.element[n], sizeof column.bits);
    for (unsigned first = 0; first < terms; first += group)
      add_group<group, F>(a, b, {first, n}, how, column);
    __builtin_memcpy(d.element[n], column.bits, sizeof column.bits);
  }
}
template <class F>
void add_products(const Terms<most_rows>& a, const Terms<most_columns>& b, unsigned terms,
                  unsigned group, const FusedSum& how, u32 columns, const Results& c, Results& d) {
  switch (group) {
    case 4:
      return add_products<4, F>(a, b, terms, how, columns, c, d);
    case 8:
      return add_products<8, F>(a, b, terms, how, columns, c, d);
    case 16:
      return add_products<16, F>(a, b, terms, how, columns, c, d);
    default:
      return add_products<32, F>(a, b, terms, how, columns, c, d);
  }
}

}  // namespace
}  // namespace lockstep::isa::LOCKSTEP_LEVEL
