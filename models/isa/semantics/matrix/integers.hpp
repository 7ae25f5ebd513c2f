/// Exact products of integers and of bits.
#pragma once

#include "models/isa/semantics/matrix/terms.hpp"

namespace lockstep::isa::LOCKSTEP_LEVEL {
namespace {

constexpr unsigned most_integers = 64;  ///< integers along k

template <unsigned width>
struct Integers {
  alignas(64) s32 value[most_integers][width];
};

/// `parts` elements of a word, extended by their sign or with zeros.
template <unsigned parts, bool is_signed, unsigned width>
LOCKSTEP_INLINE void unpack_integers(Integers<width>& to, const Words<width>& from,
                                     unsigned words) {
  constexpr unsigned bits = 32 / parts;
  for (unsigned k = 0; k < words; ++k)
    for (unsigned part = 0; part < parts; ++part) LOCKSTEP_ACROSS(width) {
        const u32 top = from.word[k][i] << (32 - bits - part * bits);
        to.value[parts * k + part][i] =
            is_signed ? static_cast<s32>(top) >> (32 - bits) : static_cast<s32>(top >> (32 - bits));
      }
}
template <unsigned width>
void unpack_integers(Integers<width>& to, const Words<width>& from, unsigned words,
                     MatrixElement element) {
  switch (element) {
    case MatrixElement::s8:
      return unpack_integers<4, true>(to, from, words);
    case MatrixElement::u8:
      return unpack_integers<4, false>(to, from, words);
    case MatrixElement::s4:
      return unpack_integers<8, true>(to, from, words);
    default:
      return unpack_integers<8, false>(to, from, words);
  }
}

/// Returns C + the sum, modulo 2^32 or clamped to 32 bits with a sign.
LOCKSTEP_INLINE u32 accumulated(u32 c, s32 sum, bool saturate) {
  const u32 wrapped = c + static_cast<u32>(sum);
  const bool negative = static_cast<s32>(c) < 0;
  const bool overflow = negative == (sum < 0) && (static_cast<s32>(wrapped) < 0) != negative;
  return saturate && overflow ? (negative ? 0x80000000U : 0x7fffffffU) : wrapped;
}

inline void add_integers(const Words<most_rows>& a, const Words<most_columns>& b, unsigned words,
                         const MatrixForm& form, Results& results) {
  Integers<most_rows> left;
  Integers<most_columns> right;
  unpack_integers(left, a, words, form.a);
  unpack_integers(right, b, words, form.b);
  const bool bytes = form.a == MatrixElement::s8 || form.a == MatrixElement::u8;
  const unsigned elements = words * (bytes ? 4 : 8);
  for (unsigned n = 0; n < most_columns; ++n) {
    alignas(64) s32 sum[most_rows] = {};
    for (unsigned k = 0; k < elements; ++k)
      LOCKSTEP_ACROSS(most_rows) sum[i] += left.value[k][i] * right.value[k][n];
    LOCKSTEP_ACROSS(most_rows)
    results.element[n][i] = accumulated(results.element[n][i], sum[i], form.saturate);
  }
}

/// Adds to C the number of ones of A op B.
inline void add_bits(const Words<most_rows>& a, const Words<most_columns>& b, unsigned words,
                     const MatrixForm& form, Results& results) {
  const bool conjunction = form.operation == MatrixOperation::and_popc;
  for (unsigned n = 0; n < most_columns; ++n)
    for (unsigned k = 0; k < words; ++k) LOCKSTEP_ACROSS(most_rows) {
        const u32 x = a.word[k][i], y = b.word[k][n];
        results.element[n][i] += static_cast<u32>(__builtin_popcount(conjunction ? x & y : x ^ y));
      }
}

}  // namespace
}  // namespace lockstep::isa::LOCKSTEP_LEVEL
