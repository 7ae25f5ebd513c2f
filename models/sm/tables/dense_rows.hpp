/// Rows of registers, renumbered so that only rows count that the SM's instructions touch.
///
/// Forwarded copies and deferred values leave rows without readers and writers. Without those rows
/// the registers of an SM's warps lie on fewer pages and lines of this computer.  Saving a warp's
/// registers copies these rows, and costs the time of those in Program::live_rows.
/// Source: hot-path.md ("what the inner loops can cost").
#pragma once

#include <cstdint>
#include <vector>

#include "models/isa/program.hpp"
#include "models/sm/tables/deferred_values.hpp"

namespace lockstep {

struct DenseRows {
  std::uint32_t rows = 0;
  std::uint32_t pair_rows = 0;           ///< rows below this number hold 64-bit values, two each
  std::vector<std::uint8_t> read_first;  ///< rows that must hold something before the first write
};

/// Renames the registers of `issued`, the instructions that are executed for `program`.
/// Scoreboards keep the program's own numbers, also for instructions without effect.
DenseRows number_densely(DeferredValues& issued, const isa::Program& program);

}  // namespace lockstep
