#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "models/isa/divergence.hpp"
#include "models/isa/instruction.hpp"
#include "models/sm/tables/issue_tables.hpp"
#include "models/sm/tables/scoreboard.hpp"

namespace lockstep {

/// A warp in its slot.  What every issue touches stands in the first two cache lines.
struct alignas(64) Warp {
  Scoreboard pending;  ///< results to come
  const IssueRecord* records = nullptr;
  std::uint32_t* registers = nullptr;  ///< rows of 32 lanes
  std::uint16_t flights = 0;           ///< loads and atomics without their answers
  std::uint16_t stores = 0;            ///< stores and atomics without acknowledgement
  std::uint8_t block = 0, grid = 0;    ///< slots
  std::uint8_t tenant = 0, warp_in_block = 0;
  PendingRows loads;  ///< those of the pending results that memory will bring
  isa::WarpPaths paths;
};
static_assert(offsetof(Warp, loads) == 64);
static_assert(offsetof(Warp, paths) == 96, "what an undivided warp needs ends with the line");

}  // namespace lockstep
