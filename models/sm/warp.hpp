#pragma once

#include <array>
#include <cstdint>

#include "models/isa/divergence.hpp"
#include "models/isa/instruction.hpp"
#include "models/sm/issue_tables.hpp"
#include "models/sm/scoreboard.hpp"

namespace lockstep {

/// A warp in its slot; what issue needs comes first.
struct alignas(64) Warp {
  isa::WarpPaths paths;
  Scoreboard pending;  ///< results to come
  const IssueRecord* records = nullptr;
  const isa::Instruction* instructions = nullptr;
  /// Where its operands stand; `active` and `path` are set at each issue.
  isa::WarpContext context;
  std::array<std::uint64_t, 4> loads{};  ///< those of the pending rows that memory will fill
  std::uint16_t flights = 0;             ///< loads and atomics without their answers
  std::uint16_t stores = 0;              ///< stores and atomics without acknowledgement
  std::uint16_t warp_in_block = 0;
  std::uint8_t block = 0, grid = 0;  ///< slots
  std::uint8_t tenant = 0;
};

}  // namespace lockstep
