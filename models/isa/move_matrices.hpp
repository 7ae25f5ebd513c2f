/// Moves of ldmatrix and stmatrix, for the SM and the interpreter: the caller gives the places of
/// rows in shared memory and stores a row there.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "models/isa/matrix/matrix_rows.hpp"
#include "models/isa/semantics/matrix.hpp"

namespace lockstep::isa {

inline unsigned matrices_of(const Instruction& instruction) {
  return std::min<unsigned>(instruction.memory.elements, most_matrices);
}

/// `place_of(lane)` returns where the row stands whose address the lane has, `registers(operand)` a
/// row of registers; `store(place, words)` stores a row.  All rows are found before a register is
/// written.
void move_matrices(const Instruction& instruction, auto&& place_of, auto&& registers,
                   auto&& store) {
  const bool transposed = instruction.detail != 0, loads = instruction.category == Category::load;
  const MatrixTranspose transpose = matrix_transpose(cpu_level());
  const unsigned count = matrices_of(instruction);
  std::array<MatrixRows, most_matrices> matrices;
  for (unsigned j = 0; j < count; ++j) {
    std::uint32_t* words = matrices[j].data();
    if (!loads) {
      std::memcpy(words, registers(instruction.source[1 + j]), sizeof matrices[j]);
      if (transposed) transpose(words, words);
    }
    for (unsigned r = 0; r < matrix_rows; ++r) {
      std::byte* place = place_of(matrix_rows * j + r);
      if (loads) {
        std::memcpy(words + r * words_of_matrix_row, place, matrix_row_bytes);
      } else {
        store(place, words + r * words_of_matrix_row);
      }
    }
    if (loads && transposed) transpose(words, words);
  }
  for (unsigned j = 0; loads && j < count; ++j)
    if (instruction.destination[j].valid())
      std::memcpy(registers(instruction.destination[j]), &matrices[j], sizeof matrices[j]);
}

}  // namespace lockstep::isa
