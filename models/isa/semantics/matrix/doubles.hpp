/// Products of f64: along k one fused multiply-add after the other, each rounded as the form says.
#pragma once

#include "models/isa/semantics/matrix/terms.hpp"

namespace lockstep::isa::LOCKSTEP_LEVEL {
namespace {

LOCKSTEP_INLINE double rounded_fma(double a, double b, double c, Direction d) {
  return finite(a) && finite(b) && finite(c) ? exact_fma(a, b, c, d) : fused(a, b, c);
}

struct Doubles {
  double a[16][most_rows], b[16][most_columns], c[most_columns][most_rows];  ///< A and B, each by k
};
inline void gather_doubles(Doubles& to, const MatrixRegisters& count, const u32* const* a,
                           const u32* const* b, const u32* const* c) {
  const auto lane_of = [](const u32* row, unsigned lane) {
    return double_of(reinterpret_cast<const u64*>(row)[lane]);
  };
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned reg = 0; reg < count.a; ++reg)
      to.a[fragment::a_word(lane, reg)][fragment::a_row(lane, reg)] = lane_of(a[reg], lane);
    for (unsigned reg = 0; reg < count.b; ++reg)
      to.b[fragment::b_word(lane, reg)][fragment::b_column(lane)] = lane_of(b[reg], lane);
    for (unsigned reg = 0; reg < count.c; ++reg)
      to.c[fragment::c_column(lane, reg)][fragment::c_row(lane, reg)] = lane_of(c[reg], lane);
  }
}
template <bool nearest>
LOCKSTEP_INLINE void add_doubles(Doubles& x, const MatrixForm& form, Direction d) {
  for (unsigned n = 0; n < most_columns; ++n)
    for (unsigned k = 0; k < form.k; ++k)
      for (unsigned i = 0; i < form.m; ++i) {
        double& sum = x.c[n][i];
        sum =
            nearest ? fused(x.a[k][i], x.b[k][n], sum) : rounded_fma(x.a[k][i], x.b[k][n], sum, d);
      }
}

inline void multiply_doubles(const MatrixForm& form, const u32* const* a, const u32* const* b,
                             const u32* const* c, u32* const* d) {
  const MatrixRegisters count = registers_of(form);
  Doubles x;
  gather_doubles(x, count, a, b, c);
  if (form.rounding == Rounding::rn)
    add_doubles<true>(x, form, Direction{});
  else
    add_doubles<false>(x, form, direction_of(form.rounding));
  for (unsigned reg = 0; reg < count.d; ++reg)
    for (unsigned lane = 0; lane < 32; ++lane) {
      const double sum = x.c[fragment::c_column(lane, reg)][fragment::c_row(lane, reg)];
      reinterpret_cast<u64*>(d[reg])[lane] = sum != sum ? canonical_nan64 : bits_of(sum);
    }
}

}  // namespace
}  // namespace lockstep::isa::LOCKSTEP_LEVEL
