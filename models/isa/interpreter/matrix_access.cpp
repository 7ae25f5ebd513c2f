/// ldmatrix and stmatrix: rows of 16 bytes in shared memory, and the parts of these rows in lanes.
#include <bit>
#include <cstring>

#include "models/isa/interpreter/block_runner.hpp"
#include "models/isa/move_matrices.hpp"
#include "models/isa/text/absent_lanes.hpp"

namespace lockstep::isa {

void BlockRunner::require_whole_warp(const Warp& warp, const Instruction& instruction,
                                     std::uint32_t lanes) {
  if (lanes == whole_warp) return;
  fail(warp, static_cast<unsigned>(std::countr_zero(lanes)),
       whole_warp_text(instruction.opcode, lanes), whole_warp_advice);
}

/// Moves matrices.  Paths of the warp that come here one after the other move their rows together.
void BlockRunner::matrix_access(Warp& warp, const Instruction& instruction, std::uint32_t active) {
  if (active == 0) return warp.paths.advance();
  const std::uint32_t together = warp.paths.arrive(whole_warp);
  if (together == 0) return;
  active = warp.guarded(instruction, together);
  if (state_.is_watched) [[unlikely]]
    watch_.access(warp, instruction, active);
  require_whole_warp(warp, instruction, active);
  move_matrices(
      instruction,
      [&](unsigned lane) {
        return locate(warp, instruction, lane, address_of(warp, instruction, lane),
                      matrix_row_bytes);
      },
      [&](Operand operand) { return const_cast<std::uint32_t*>(row(warp, operand)); },
      [&](std::byte* place, const std::uint32_t* words) {
        state_.changed = state_.changed || std::memcmp(place, words, matrix_row_bytes) != 0;
        std::memcpy(place, words, matrix_row_bytes);
      });
  warp.paths.advance();
}

}  // namespace lockstep::isa
