/// 8 x 8 elements of 16 bits, as ldmatrix and stmatrix move them: lane 4 g + t holds elements 2 t
/// and 2 t + 1 of row g, so that a warp's row of registers is the matrix by rows.
#pragma once

#include <array>
#include <cstdint>

#include "models/isa/instruction.hpp"

namespace lockstep::isa {

inline constexpr unsigned most_matrices = 4;  ///< matrices of one instruction, at most
inline constexpr unsigned matrix_rows = 8, matrix_row_bytes = 16, words_of_matrix_row = 4;
using MatrixRows = std::array<std::uint32_t, matrix_rows * words_of_matrix_row>;

constexpr bool moves_matrices(const Instruction& instruction) {
  return instruction.opcode == Opcode::ldmatrix || instruction.opcode == Opcode::stmatrix;
}
/// Returns whether the instruction needs all lanes. PTX leaves missing lanes undefined; here they
/// are reported.
constexpr bool needs_whole_warp(const Instruction& instruction) {
  return instruction.opcode == Opcode::mma || instruction.opcode == Opcode::movmatrix ||
         instruction.opcode == Opcode::wgmma || moves_matrices(instruction);
}
inline constexpr std::uint32_t whole_warp = 0xffffffff;

}  // namespace lockstep::isa
