/// The product of one step: m16n8, m8n8, or that of a quad pair.
#pragma once

#include "models/isa/matrix/plan.hpp"
#include "models/isa/semantics/matrix/fused_sums.hpp"
#include "models/isa/semantics/matrix/integers.hpp"
#include "models/isa/semantics/matrix/quad_pairs.hpp"

namespace lockstep::isa::LOCKSTEP_LEVEL {
namespace {

using Kind = MatrixPlan::Kind;

/// A product m16n8, m8n8, or of a quad pair.
struct Product {
  Words<most_rows> a;
  Words<most_columns> b;
  Results results;  ///< C before, D after
  unsigned words = 0;
};

constexpr u32 all_columns = (1U << most_columns) - 1;

LOCKSTEP_INLINE FusedSum sum_of(const MatrixPlan& plan) {
  return {static_cast<s32>(plan.fraction), plan.short_result};
}
/// Sums are f32 as soon as C or D is; D of f16 is rounded at last.
LOCKSTEP_INLINE bool sums_are_halves(const MatrixForm& form) {
  return form.c == MatrixResult::f16 && form.d == MatrixResult::f16;
}
LOCKSTEP_INLINE void widen_results(Results& results) {
  for (u32(&column)[most_rows] : results.element) LOCKSTEP_ACROSS(most_rows) {
      const float value = widen<F16>(column[i]);
      column[i] = value != value ? canonical_nan32 : bits_of(value);
    }
}
LOCKSTEP_INLINE void narrow_results(Results& results) {
  for (u32(&column)[most_rows] : results.element) LOCKSTEP_ACROSS(most_rows)
  column[i] = narrow_half<F16>(float_of(column[i]), Direction{});
}

/// Adds the columns of D in which a value is special or leaves the range of f32.
[[gnu::noinline]] inline void add_rare(const Product& x, const MatrixForm& form,
                                       const MatrixPlan& plan, TermOrder order, u32 columns,
                                       Results& d) {
  Terms<most_rows> a;
  Terms<most_columns> b;
  split(a, x.a, x.words, form.a, order);
  split(b, x.b, x.words, form.b, order);
  const FusedSum how = sum_of(plan);
  if (sums_are_halves(form))
    add_products<Float16>(a, b, form.k, plan.group, how, columns, x.results, d);
  else
    add_products<Float32>(a, b, form.k, plan.group, how, columns, x.results, d);
}
/// A as factors, which several products may share.
struct SplitRows {
  Factors<most_rows> factors;
  bool special = false;
};
inline void split_rows(SplitRows& to, const Product& x, const MatrixForm& form, TermOrder order) {
  to.special = split(to.factors, x.a, x.words, form.a, order);
}
inline void add_fused(Product& x, const SplitRows& rows, const MatrixForm& form,
                      const MatrixPlan& plan, TermOrder order) {
  const Factors<most_rows>& a = rows.factors;
  Factors<most_columns> b;
  Results d;
  const FusedSum how = sum_of(plan);
  const bool wide = form.a == MatrixElement::bf16 || form.a == MatrixElement::tf32;
  const bool special = split(b, x.b, x.words, form.b, order) || rows.special;
  u32 rare = all_columns;
  if (!special) {
    if (sums_are_halves(form))
      rare = add_aligned<Float16, false>(a, b, form.k, plan.group, how, x.results, d);
    else if (wide)
      rare = add_aligned<Float32, true>(a, b, form.k, plan.group, how, x.results, d);
    else
      rare = add_aligned<Float32, false>(a, b, form.k, plan.group, how, x.results, d);
  }
  if (rare != 0) add_rare(x, form, plan, order, rare, d);
  x.results = d;
}
inline void add_fused(Product& x, const MatrixForm& form, const MatrixPlan& plan, TermOrder order) {
  SplitRows rows;
  split_rows(rows, x, form, order);
  add_fused(x, rows, form, plan, order);
}

/// Adds products of Hopper's fp8: the product is computed without C, which is then added and
/// rounded to nearest.
inline void add_fused_halves(Product& x, const MatrixForm& form, const MatrixPlan& plan) {
  const Results c = x.results;
  x.results = Results{};
  add_fused(x, form, plan, TermOrder::by_halves);
  for (unsigned n = 0; n < most_columns; ++n) LOCKSTEP_ACROSS(most_rows) {
      u32& element = x.results.element[n][i];
      if (sums_are_halves(form)) {
        element = narrow_half<F16>(widen<F16>(c.element[n][i]) + widen<F16>(element), Direction{});
      } else {
        const float sum = float_of(c.element[n][i]) + float_of(element);
        element = sum != sum ? canonical_nan32 : bits_of(sum);
      }
    }
}

inline void compute(Product& x, const MatrixForm& form, const MatrixPlan& plan) {
  switch (plan.kind) {
    case Kind::fused:
      return add_fused(x, form, plan, TermOrder::by_k);
    case Kind::fused_halves:
      return add_fused_halves(x, form, plan);
    case Kind::scalar:
      return add_scalar_products(x.a, x.b, sums_are_halves(form), x.results);
    case Kind::integers:
      return add_integers(x.a, x.b, x.words, form, x.results);
    default:
      return add_bits(x.a, x.b, x.words, form, x.results);
  }
}
/// C and D may be of different types.
inline void compute_mixed(Product& x, const MatrixForm& form, const MatrixPlan& plan) {
  const bool halves = sums_are_halves(form);
  if (form.c == MatrixResult::f16 && !halves) widen_results(x.results);
  compute(x, form, plan);
  if (form.d == MatrixResult::f16 && !halves) narrow_results(x.results);
}

}  // namespace
}  // namespace lockstep::isa::LOCKSTEP_LEVEL
