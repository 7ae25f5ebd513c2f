#include "models/isa/matrix/fragment.hpp"

namespace lockstep::isa {
namespace {

using enum MatrixOperand;

MatrixPlace transposed(MatrixPlace place) {
  return {place.column, place.row};
}

/// Returns the place for mma of shapes m16n8 and m8n8.
MatrixPlace mma_place(const MatrixForm& form, MatrixOperand operand, unsigned lane, unsigned reg,
                      unsigned part) {
  const unsigned a_bits = bits_of(form.a), elements = a_bits >= 32 ? 1 : 32 / a_bits;
  switch (operand) {
    case a:
      return {fragment::a_row(lane, reg), fragment::a_word(lane, reg) * elements + part};
    case b:
      return {fragment::b_word(lane, reg) * elements + part, fragment::b_column(lane)};
    default:
      break;
  }
  if ((operand == c ? form.c : form.d) == MatrixResult::f16)
    return {fragment::half_c_row(lane, reg), fragment::half_c_column(lane) + part};
  return {fragment::c_row(lane, reg), fragment::c_column(lane, reg)};
}

/// Returns the place for m8n8k4 of f16, in the matrices of the lane's quad pair.
MatrixPlace quad_pair_place(const MatrixForm& form, MatrixOperand operand, unsigned lane,
                            unsigned reg, unsigned part) {
  const unsigned member = fragment::member_of(lane), v = 2 * reg + part;
  switch (operand) {
    case a:
      return form.a_column ? MatrixPlace{4 * (member / 4) + v, member % 4} : MatrixPlace{member, v};
    case b:
      return form.b_row ? MatrixPlace{member % 4, 4 * (member / 4) + v} : MatrixPlace{v, member};
    default:
      break;
  }
  if ((operand == c ? form.c : form.d) == MatrixResult::f16) return {member, v};
  return {fragment::quad_pair_row(member, reg), fragment::quad_pair_column(member, reg)};
}

unsigned first_register(const MatrixStep& step, MatrixOperand operand) {
  switch (operand) {
    case a:
      return step.a;
    case b:
      return step.b;
    case c:
      return step.c;
    default:
      return step.d;
  }
}
unsigned registers_of(const MatrixForm& form, MatrixOperand operand) {
  const MatrixRegisters count = registers_of(form);
  return operand == a ? count.a : operand == b ? count.b : operand == c ? count.c : count.d;
}

/// Returns the place of the register in its step; registers in no step repeat the first ones.
MatrixPlace wmma_place(const MatrixForm& form, MatrixOperand operand, unsigned lane, unsigned reg,
                       unsigned part) {
  const MatrixSteps steps = steps_of(form);
  const bool turned = steps.transposed;
  const MatrixOperand inner = turned && operand == a ? b : turned && operand == b ? a : operand;
  const unsigned width = registers_of(steps.mma, inner);
  const bool split = steps.count == 2 && first_register(steps.step[1], operand) != 0;
  const unsigned distinct = split ? 2 * width : width;
  const unsigned index = reg % distinct, block = index / width;
  MatrixPlace place = mma_place(steps.mma, inner, lane, index % width, part);
  // The second step is beside the first, in the direction in which the shape is divided.
  const bool rows_cut = form.m == 32 || turned;
  (rows_cut ? place.row : place.column) += block * (rows_cut ? 16 : 8);
  return turned ? transposed(place) : place;
}

}  // namespace

MatrixSteps steps_of(const MatrixForm& wmma) {
  MatrixSteps steps;
  steps.mma = wmma;
  steps.mma.wmma = false;
  steps.count = 1;
  if (wmma.m == 8 && wmma.n == 8) return steps;
  steps.count = 2;
  steps.transposed = wmma.n == 32;
  steps.mma.m = 16;
  steps.mma.n = 8;
  const MatrixRegisters width = registers_of(steps.mma);
  MatrixStep& second = steps.step[1];
  second.c = width.c;
  second.d = width.d;
  if (wmma.m == 32)
    second.a = width.a;
  else if (wmma.n == 32)
    second.b = width.a;  // B stands where A stands in mma
  else
    second.b = width.b;
  return steps;
}

MatrixPlace place_of(const MatrixForm& form, MatrixOperand operand, unsigned lane, unsigned reg,
                     unsigned part) {
  if (form.wmma) return wmma_place(form, operand, lane, reg, part);
  if (is_quad_pairs(form)) return quad_pair_place(form, operand, lane, reg, part);
  return mma_place(form, operand, lane, reg, part);
}

}  // namespace lockstep::isa
