/// ldmatrix and stmatrix: rows of 16 bytes in shared memory, and the parts of them that lanes hold.
#include <algorithm>
#include <array>
#include <cstring>

#include "models/isa/interpreter/block_runner.hpp"
#include "models/isa/matrix/matrix_rows.hpp"
#include "models/isa/semantics/matrix.hpp"
#include "models/isa/text/absent_lanes.hpp"

namespace lockstep::isa {

void BlockRunner::require_whole_warp(const Warp& warp, const Instruction& instruction,
                                     std::uint32_t lanes) {
  if (lanes == whole_warp) return;
  fail(warp, static_cast<unsigned>(std::countr_zero(lanes)),
       whole_warp_text(instruction.opcode, lanes), whole_warp_advice);
}

void BlockRunner::matrix_access(Warp& warp, const Instruction& instruction, std::uint32_t active) {
  require_whole_warp(warp, instruction, active);
  const bool transposed = instruction.detail != 0, loads = instruction.category == Category::load;
  const MatrixTranspose transpose = matrix_transpose(cpu_level());
  std::array<MatrixRows, most_matrices> matrices;
  const unsigned count = std::min<unsigned>(instruction.memory.elements, most_matrices);
  for (unsigned j = 0; j < count; ++j) {
    MatrixRows& rows = matrices[j];
    if (!loads) {
      std::memcpy(&rows, row(warp, instruction.source[1 + j]), sizeof rows);
      if (transposed) transpose(rows.data(), rows.data());
    }
    for (unsigned r = 0; r < matrix_rows; ++r) {
      const unsigned lane = matrix_rows * j + r;
      std::byte* place =
          locate(warp, instruction, lane, address_of(warp, instruction, lane), matrix_row_bytes);
      std::uint32_t* words = rows.data() + r * words_of_matrix_row;
      if (loads) {
        std::memcpy(words, place, matrix_row_bytes);
      } else {
        state_.changed = state_.changed || std::memcmp(place, words, matrix_row_bytes) != 0;
        std::memcpy(place, words, matrix_row_bytes);
      }
    }
    if (loads && transposed) transpose(rows.data(), rows.data());
  }
  if (!loads) return;
  for (unsigned j = 0; j < count; ++j)
    if (instruction.destination[j].valid())
      std::memcpy(const_cast<std::uint32_t*>(row(warp, instruction.destination[j])), &matrices[j],
                  sizeof matrices[j]);
}

}  // namespace lockstep::isa
