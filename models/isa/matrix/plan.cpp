#include "models/isa/matrix/plan.hpp"

#include <algorithm>

namespace lockstep::isa {
namespace {

using enum MatrixElement;
using enum MatrixArithmetic;

MatrixPlan fused(unsigned fraction, unsigned group) {
  return {MatrixPlan::Kind::fused, fraction, group, false};
}
MatrixPlan fp8_plan(const MatrixForm& form) {
  switch (form.arithmetic) {
    case hopper:
      return {MatrixPlan::Kind::fused_halves, 25, form.k / 2U, false};
    case blackwell:
      return fused(25, form.k);
    default:
      return {MatrixPlan::Kind::fused, 13, 16, form.d == MatrixResult::f32};
  }
}
/// Returns the group: wmma of tf32 is two steps of four in every generation (ptxas for sm_80, sm_90
/// and sm_120).
unsigned group_of(const MatrixForm& form) {
  const unsigned k = form.k;
  switch (form.arithmetic) {
    case volta:
      return 4;
    case turing:
      return std::min(k, 8U);
    case ampere:
    case ada:
      return form.a == tf32 ? 4 : std::min(k, 8U);
    default:
      return form.wmma && form.a == tf32 ? 4 : k;
  }
}

}  // namespace

MatrixPlan plan_of(const MatrixForm& form) {
  using Kind = MatrixPlan::Kind;
  if (form.a == f64) return {Kind::doubles, 0, 0, false};
  if (form.a == b1) return {Kind::bits, 0, 0, false};
  if (is_integer(form.a)) return {Kind::integers, 0, 0, false};
  if (is_fp8(form.a)) return fp8_plan(form);
  if (is_quad_pairs(form) && form.arithmetic >= ampere) return {Kind::scalar, 0, 0, false};
  const unsigned fraction = form.arithmetic == volta ? 23 : form.arithmetic >= hopper ? 25 : 24;
  return fused(fraction, group_of(form));
}

}  // namespace lockstep::isa
