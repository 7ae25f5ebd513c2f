#include "models/isa/matrix/warpgroup_form.hpp"

#include <fmt/format.h>

namespace lockstep::isa {
namespace {

using enum MatrixElement;

constexpr unsigned most_columns_of_group = 256;

bool has_16_bits(MatrixElement element) {
  return element == f16 || element == bf16;
}

/// Returns whether the form's number of columns exists: integers and bits have no n of 40, 56, 72
/// and so on.
bool columns_exist(const WarpgroupForm& form) {
  if (form.n == 0 || form.n % 8 != 0 || form.n > most_columns_of_group) return false;
  return !is_integer(form.a) || form.n <= 24 || form.n % 16 == 0;
}

bool types_exist(const WarpgroupForm& form) {
  const bool same = form.a == form.b;
  switch (form.a) {
    case f16:
      return same && (form.d == MatrixResult::f16 || form.d == MatrixResult::f32);
    case bf16:
    case tf32:
      return same && form.d == MatrixResult::f32;
    case e4m3:
    case e5m2:
      return is_fp8(form.b) && (form.d == MatrixResult::f16 || form.d == MatrixResult::f32);
    case s8:
    case u8:
      return (form.b == s8 || form.b == u8) && form.d == MatrixResult::s32;
    case b1:
      return same && form.d == MatrixResult::s32;
    default:
      return false;
  }
}

}  // namespace

bool exists(const WarpgroupForm& form) {
  if (!columns_exist(form) || !types_exist(form)) return false;
  const bool turned = form.a_by_columns || form.b_by_rows;
  if (turned && !has_16_bits(form.a)) return false;
  if (form.a_by_columns && form.a_in_registers) return false;
  if ((form.a_negated || form.b_negated) && is_integer(form.a)) return false;
  return !form.saturate || form.a == s8 || form.a == u8;
}

MatrixForm step_of(const WarpgroupForm& form) {
  MatrixForm step;
  step.k = static_cast<std::uint16_t>(form.k());
  step.a = form.a;
  step.b = form.b;
  step.c = step.d = form.d;
  step.arithmetic = MatrixArithmetic::hopper;
  step.saturate = form.saturate;
  if (form.a == b1) step.operation = MatrixOperation::and_popc;
  return step;
}

MatrixPlan plan_of(const WarpgroupForm& form) {
  if (!is_fp8(form.a)) return plan_of(step_of(form));
  MatrixPlan plan;
  plan.fraction = 13;
  plan.group = form.k();
  plan.short_result = form.d == MatrixResult::f32;
  return plan;
}

std::uint32_t pack(const WarpgroupForm& form) {
  const auto bit = [](bool value, unsigned place) { return std::uint32_t{value} << place; };
  return (form.n / 8U - 1) | static_cast<std::uint32_t>(form.a) << 5 |
         static_cast<std::uint32_t>(form.b) << 9 | static_cast<std::uint32_t>(form.d) << 13 |
         bit(form.a_in_registers, 15) | bit(form.a_by_columns, 16) | bit(form.b_by_rows, 17) |
         bit(form.a_negated, 18) | bit(form.b_negated, 19) | bit(form.saturate, 20);
}

WarpgroupForm unpack_warpgroup_form(std::uint32_t word) {
  const auto bit = [&](unsigned place) { return (word >> place & 1) != 0; };
  WarpgroupForm form;
  form.n = static_cast<std::uint16_t>(8 * ((word & 31) + 1));
  form.a = static_cast<MatrixElement>(word >> 5 & 15);
  form.b = static_cast<MatrixElement>(word >> 9 & 15);
  form.d = static_cast<MatrixResult>(word >> 13 & 3);
  form.a_in_registers = bit(15);
  form.a_by_columns = bit(16);
  form.b_by_rows = bit(17);
  form.a_negated = bit(18);
  form.b_negated = bit(19);
  form.saturate = bit(20);
  return form;
}

std::string name_of(const WarpgroupForm& form) {
  return fmt::format("m64n{}k{}.{}.{}.{}", form.n, form.k(), name_of(form.d), name_of(form.a),
                     name_of(form.b));
}

}  // namespace lockstep::isa
