/// Fragments: where the elements of a matrix stand in the registers of a warp's lanes.
///
/// Source: PTX ISA 9.0, "Matrix Fragments for mma"; those of m8n8k4: the traits of CUTLASS; those
/// of wmma, which PTX leaves open: the code of ptxas 13.0 for sm_80.
///
/// A register of 32 bits holds a `word`: one element or more with consecutive k, the lowest in the
/// low bits (an element of f64 is a word of its own).  Fragments of all shapes m16n8 and m8n8 are
/// the same in words: lane 4 g + t knows rows g and g + 8 of A, column g of B and columns 2 t and
/// 2 t + 1 of C.
#pragma once

#include <cstdint>

#include "models/isa/matrix/form.hpp"

namespace lockstep::isa {

namespace fragment {
// Always inlined: the families of semantics, compiled for several processors, share no function.
#define LOCKSTEP_FRAGMENT [[gnu::always_inline]] constexpr unsigned
LOCKSTEP_FRAGMENT a_row(unsigned lane, unsigned reg) {
  return lane / 4 + 8 * (reg % 2);
}
LOCKSTEP_FRAGMENT a_word(unsigned lane, unsigned reg) {
  return lane % 4 + 4 * (reg / 2);
}
LOCKSTEP_FRAGMENT b_column(unsigned lane) {
  return lane / 4;
}
LOCKSTEP_FRAGMENT b_word(unsigned lane, unsigned reg) {
  return lane % 4 + 4 * reg;
}
LOCKSTEP_FRAGMENT c_row(unsigned lane, unsigned reg) {
  return lane / 4 + 8 * (reg / 2);
}
LOCKSTEP_FRAGMENT c_column(unsigned lane, unsigned reg) {
  return 2 * (lane % 4) + reg % 2;
}
/// A register with two f16 of C: the low half holds the column before.
LOCKSTEP_FRAGMENT half_c_row(unsigned lane, unsigned reg) {
  return lane / 4 + 8 * reg;
}
LOCKSTEP_FRAGMENT half_c_column(unsigned lane) {
  return 2 * (lane % 4);
}

// m8n8k4 of f16.  Quad pair q: lanes 4 q ... 4 q + 3 and 16 + 4 q ... 16 + 4 q + 3, its members.
LOCKSTEP_FRAGMENT quad_pair_lane(unsigned pair, unsigned member) {
  return 4 * pair + member % 4 + 16 * (member / 4);
}
LOCKSTEP_FRAGMENT quad_pair_of(unsigned lane) {
  return lane / 4 % 4;
}
LOCKSTEP_FRAGMENT member_of(unsigned lane) {
  return lane % 4 + 4 * (lane / 16);
}
/// C or D of f32, register 0 to 7.
LOCKSTEP_FRAGMENT quad_pair_row(unsigned member, unsigned reg) {
  return member % 2 + 2 * (reg / 2 % 2) + 4 * (member / 4);
}
LOCKSTEP_FRAGMENT quad_pair_column(unsigned member, unsigned reg) {
  return reg % 2 + 2 * (member / 2 % 2) + 4 * (reg / 4);
}

// ldmatrix, stmatrix: 8 x 8 elements of 16 bits, as C of f16.
/// Returns the lane with the address of the row that contains a lane's register `matrix`.
LOCKSTEP_FRAGMENT address_lane(unsigned lane, unsigned matrix) {
  return 8 * matrix + lane / 4;
}
/// Returns where the lane's two elements stand in that row, in bytes.
LOCKSTEP_FRAGMENT row_byte(unsigned lane) {
  return 4 * (lane % 4);
}
#undef LOCKSTEP_FRAGMENT
}  // namespace fragment

/// A step of wmma.mma: an mma over some of the registers.
struct MatrixStep {
  unsigned a = 0, b = 0, c = 0, d = 0;  ///< first register of each matrix
};
/// Steps of a wmma.mma: two products m16n8, or one m8n8, of the form `mma`.  `transposed`: B gives
/// the rows and A the columns.
struct MatrixSteps {
  MatrixForm mma;
  bool transposed = false;
  unsigned count = 0;
  MatrixStep step[2];
};
MatrixSteps steps_of(const MatrixForm& wmma);

/// Operand of a form.
enum class MatrixOperand : std::uint8_t { a, b, c, d };
struct MatrixPlace {
  unsigned row = 0, column = 0;
};
/// Returns the place of element `part` (from the low bits) of a lane's register.
MatrixPlace place_of(const MatrixForm& form, MatrixOperand operand, unsigned lane, unsigned reg,
                     unsigned part);

}  // namespace lockstep::isa
