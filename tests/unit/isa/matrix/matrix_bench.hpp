/// The registers of a warp around one matrix instruction.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/isa/matrix/form.hpp"
#include "models/isa/semantics/semantics.hpp"

namespace lockstep::isa::test {

/// Rows of 32 lanes of 32 bits; of f64 row pairs of 32 lanes of 64 bits.
using Rows = std::vector<std::uint32_t>;

struct Registers {
  Rows a, b, c;
  bool operator==(const Registers&) const = default;
};

/// Zeros, as many as the form takes.
Registers registers_for(const MatrixForm& form);
/// D.  Precondition: is_supported(form).
Rows multiply(const MatrixForm& form, const Registers& registers, CpuLevel level);

/// The bits of an element of one operand, by its place in the lanes.
std::uint64_t element_in(const Rows& rows, unsigned bits, unsigned lane, unsigned reg,
                         unsigned part);
void put_element(Rows& rows, unsigned bits, unsigned lane, unsigned reg, unsigned part,
                 std::uint64_t value);

/// A matrix of codes, by rows.
struct Matrix {
  Matrix(unsigned height, unsigned width) : columns(width), codes(height * width) {}
  std::uint64_t& operator()(unsigned row, unsigned column) { return codes[row * columns + column]; }
  std::uint64_t operator()(unsigned row, unsigned column) const {
    return codes[row * columns + column];
  }
  bool operator==(const Matrix&) const = default;

  unsigned columns;
  std::vector<std::uint64_t> codes;
};

/// Of one product (not of m8n8k4 of f16, which has four).
Registers pack(const MatrixForm& form, const Matrix& a, const Matrix& b, const Matrix& c);
Matrix unpack_result(const MatrixForm& form, const Rows& d);
/// D from matrices.
Matrix product(const MatrixForm& form, const Matrix& a, const Matrix& b, const Matrix& c,
               CpuLevel level);

/// The form of an mma or wmma; arithmetic ampere.
MatrixForm mma_form(unsigned m, unsigned n, unsigned k, MatrixElement element, MatrixResult result);
MatrixForm wmma_form(unsigned m, unsigned n, unsigned k, MatrixElement element,
                     MatrixResult result);
/// All forms with every arithmetic that has them, without rounding, signs of integers and layouts.
std::vector<MatrixForm> all_forms();

/// From the fields of a line of tests/references/matrix/vectors.py.
MatrixForm parse_form(const std::vector<std::string>& fields);
Rows parse_rows(const std::string& hexadecimal);

}  // namespace lockstep::isa::test
