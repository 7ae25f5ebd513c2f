/// m8n8k4 of f16: the matrices of the four quad pairs, and what compilers for Ampere and later make
/// of their product: multiplications and additions of f32.
#pragma once

#include "models/isa/semantics/matrix/terms.hpp"

namespace lockstep::isa::LOCKSTEP_LEVEL {
namespace {

LOCKSTEP_INLINE void put_half(u32& word, unsigned part, u32 half) {
  word |= half << part * 16;
}
LOCKSTEP_INLINE u32 half_of(const u32* const* rows, unsigned lane, unsigned v) {
  return rows[v / 2][lane] >> v % 2 * 16 & 0xffff;
}

/// Gathers the words of one quad pair. Precondition: all zero.
inline void gather_quad_pair(Words<most_rows>& to_a, Words<most_columns>& to_b,
                             const MatrixForm& form, unsigned pair, const u32* const* a,
                             const u32* const* b) {
  for (unsigned member = 0; member < 8; ++member) {
    const unsigned lane = fragment::quad_pair_lane(pair, member);
    for (unsigned v = 0; v < 4; ++v) {
      const unsigned across = 4 * (member / 4) + v, along = member % 4;
      const unsigned row = form.a_column ? across : member, a_k = form.a_column ? along : v;
      const unsigned column = form.b_row ? across : member, b_k = form.b_row ? along : v;
      put_half(to_a.word[a_k / 2][row], a_k % 2, half_of(a, lane, v));
      put_half(to_b.word[b_k / 2][column], b_k % 2, half_of(b, lane, v));
    }
  }
}
inline void gather_quad_pair_c(Results& to, unsigned pair, bool halves, const u32* const* c) {
  for (unsigned member = 0; member < 8; ++member) {
    const unsigned lane = fragment::quad_pair_lane(pair, member);
    for (unsigned v = 0; v < 8; ++v) {
      if (halves)
        to.element[v][member] = half_of(c, lane, v);
      else
        to.element[fragment::quad_pair_column(member, v)][fragment::quad_pair_row(member, v)] =
            c[v][lane];
    }
  }
}
inline void scatter_quad_pair_d(u32* const* d, unsigned pair, bool halves, const Results& from) {
  for (unsigned member = 0; member < 8; ++member) {
    const unsigned lane = fragment::quad_pair_lane(pair, member);
    for (unsigned v = 0; v < 8; ++v) {
      if (!halves)
        d[v][lane] =
            from.element[fragment::quad_pair_column(member, v)][fragment::quad_pair_row(member, v)];
      else if (v % 2 == 0)
        d[v / 2][lane] = from.element[v][member] | from.element[v + 1][member] << 16;
    }
  }
}

/// To f32: C + (((a0 b0 + a1 b1) + a2 b2) + a3 b3).  To f16: (C + (a0 b0 + a1 b1)) + (a2 b2 + a3
/// b3), then to f16.  Products are added with fused operations, as in the code of ptxas 13.0 for
/// sm_80, sm_90 and sm_120.
inline void add_scalar_products(const Words<most_rows>& a, const Words<most_columns>& b,
                                bool halves, Results& results) {
  for (unsigned n = 0; n < most_columns; ++n)
    for (unsigned i = 0; i < 8; ++i) {
      const auto left = [&](unsigned k) {
        return widen<F16>(a.word[k / 2][i] >> k % 2 * 16 & 0xffff);
      };
      const auto right = [&](unsigned k) {
        return widen<F16>(b.word[k / 2][n] >> k % 2 * 16 & 0xffff);
      };
      u32& element = results.element[n][i];
      if (halves) {
        const float first = fused(left(1), right(1), left(0) * right(0));
        const float second = fused(left(3), right(3), left(2) * right(2));
        element = narrow_half<F16>((widen<F16>(element) + first) + second, Direction{});
      } else {
        float sum = left(0) * right(0) + 0.0F;
        for (unsigned k = 1; k < 4; ++k) sum = fused(left(k), right(k), sum);
        sum = float_of(element) + sum;
        element = sum != sum ? canonical_nan32 : bits_of(sum);
      }
    }
}

}  // namespace
}  // namespace lockstep::isa::LOCKSTEP_LEVEL
