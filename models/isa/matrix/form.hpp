/// Matrix instructions by form: shape, types, modifiers, and the arithmetic of a generation.
///
/// Source: PTX ISA 9.0, "Warp Level Matrix Multiply-Accumulate Instructions".  D = A B + C, where A
/// has m x k elements, B k x n, C and D m x n.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "models/isa/types.hpp"

namespace lockstep::isa {

/// Type of an element of A or B.
enum class MatrixElement : std::uint8_t { f16, bf16, tf32, e4m3, e5m2, f64, s8, u8, s4, u4, b1 };
/// Type of an element of C or D.
enum class MatrixResult : std::uint8_t { f16, f32, f64, s32 };
/// Tensor cores of a generation, each with its own way of summing (see plan.hpp).
enum class MatrixArithmetic : std::uint8_t { volta, turing, ampere, ada, hopper, blackwell };
enum class MatrixOperation : std::uint8_t { multiply, xor_popc, and_popc };

struct MatrixForm {
  std::uint8_t m = 16, n = 8;
  std::uint16_t k = 16;
  MatrixElement a = MatrixElement::f16, b = MatrixElement::f16;
  MatrixResult c = MatrixResult::f32, d = MatrixResult::f32;
  MatrixOperation operation = MatrixOperation::multiply;
  MatrixArithmetic arithmetic = MatrixArithmetic::ampere;
  Rounding rounding = Rounding::rn;      ///< rounding of f64: rn, rz, rm, rp
  bool wmma = false;                     ///< fragments belong to wmma
  bool a_column = false, b_row = false;  ///< m8n8k4 of f16: A column-major, B row-major
  bool saturate = false;                 ///< .satfinite

  bool operator==(const MatrixForm&) const = default;
};

constexpr unsigned bits_of(MatrixElement element) {
  switch (element) {
    case MatrixElement::f64:
      return 64;
    case MatrixElement::tf32:
      return 32;
    case MatrixElement::f16:
    case MatrixElement::bf16:
      return 16;
    case MatrixElement::s4:
    case MatrixElement::u4:
      return 4;
    case MatrixElement::b1:
      return 1;
    default:
      return 8;
  }
}
constexpr unsigned bits_of(MatrixResult result) {
  return result == MatrixResult::f64 ? 64 : result == MatrixResult::f16 ? 16 : 32;
}
constexpr bool is_integer(MatrixElement element) {
  return element >= MatrixElement::s8;
}
constexpr bool is_fp8(MatrixElement element) {
  return element == MatrixElement::e4m3 || element == MatrixElement::e5m2;
}
/// Returns the arithmetic of the GPUs of a compute capability ("8.0"); nothing below 7.0.
std::optional<MatrixArithmetic> arithmetic_of(const std::string& compute_capability);
/// Returns an example for advice: "A100 (ampere)".
const char* example_of(MatrixArithmetic arithmetic);

/// Returns whether the form is m8n8k4 of f16: four products at once, one for each quad pair of a
/// warp.
constexpr bool is_quad_pairs(const MatrixForm& form) {
  return !form.wmma && form.a == MatrixElement::f16 && form.m == 8;
}

/// Numbers of registers of each matrix in a lane; those of f64 have 64 bits.
struct MatrixRegisters {
  unsigned a = 0, b = 0, c = 0, d = 0;
};
MatrixRegisters registers_of(const MatrixForm& form);

/// Returns whether PTX has the shape with these types.
bool exists(const MatrixForm& form);
/// Returns the first generation whose tensor cores (or whose compiler, with other instructions)
/// have the form. Precondition: exists(form).
MatrixArithmetic first_with(const MatrixForm& form);
/// Returns whether the form exists and its generation has it.
bool is_supported(const MatrixForm& form);

/// Returns a form as a word: of ir::Operation::immediate and Instruction::target.
std::uint32_t pack(const MatrixForm& form);
MatrixForm unpack_form(std::uint32_t word);

const char* name_of(MatrixElement element);
const char* name_of(MatrixResult result);
const char* name_of(MatrixArithmetic arithmetic);
/// Returns the name as PTX spells it: "m16n8k16.f32.f16.f16.f32".
std::string name_of(const MatrixForm& form);

}  // namespace lockstep::isa
