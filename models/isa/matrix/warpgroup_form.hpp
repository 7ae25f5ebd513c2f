/// Products of warp groups (wgmma) by form: shape, types and modifiers.
///
/// A warp group is four consecutive warps of a block, the first of which has a number that is a
/// multiple of four.  D = A B + D, where D has 64 x n elements, and warp w of the group has rows
/// 16 w to 16 w + 15 of A and D.  A row of A and a column of B have 32 bytes.  A stands in
/// registers or in shared memory, B in shared memory (see shared_operand.hpp). Source: PTX ISA 9.0,
/// "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions"; arithmetic:
/// modern-isa.md, section 3.4.
#pragma once

#include "models/isa/matrix/form.hpp"
#include "models/isa/matrix/plan.hpp"

namespace lockstep::isa {

inline constexpr unsigned warps_of_group = 4;
inline constexpr unsigned bytes_along_k = 32;

struct WarpgroupForm {
  std::uint16_t n = 8;
  MatrixElement a = MatrixElement::f16, b = MatrixElement::f16;
  MatrixResult d = MatrixResult::f32;
  bool a_in_registers = false;
  /// Orders of A and B in shared memory, see shared_operand.hpp.
  bool a_by_columns = false, b_by_rows = false;
  bool a_negated = false, b_negated = false;
  bool saturate = false;  ///< .satfinite

  bool operator==(const WarpgroupForm&) const = default;
  unsigned k() const { return 8 * bytes_along_k / bits_of(a); }
};

/// Numbers of registers of 32 bits that a lane holds.
constexpr unsigned registers_of_a = 4;
constexpr unsigned registers_of_d(const WarpgroupForm& form) {
  return form.d == MatrixResult::f16 ? form.n / 4 : form.n / 2;
}

/// Returns whether PTX has the shape with these types and modifiers.
bool exists(const WarpgroupForm& form);
/// Returns the m16n8 product for eight columns of one warp's rows.
MatrixForm step_of(const WarpgroupForm& form);
/// Returns the plan by which Hopper's tensor cores sum the products: one group over all of k; fp8
/// keeps 13 bits below the largest exponent and in an f32 result.
MatrixPlan plan_of(const WarpgroupForm& form);

/// Returns a form as a word: of ir::Operation::immediate and Instruction::target.
std::uint32_t pack(const WarpgroupForm& form);
WarpgroupForm unpack_warpgroup_form(std::uint32_t word);

/// Returns the name as PTX spells it: "m64n128k16.f32.f16.f16".
std::string name_of(const WarpgroupForm& form);

}  // namespace lockstep::isa
