#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/memory/warm.hpp"
#include "models/isa/divergence.hpp"
#include "models/isa/instruction.hpp"
#include "models/sm/tables/issue_tables.hpp"
#include "models/sm/tables/scoreboard.hpp"

namespace lockstep {

/// A warp in its slot; under_way.hpp has its loads, stores and copies under way.  Members that
/// every issue touches stand in the first two cache lines of this computer.
struct alignas(64) Warp {
  Scoreboard pending;  ///< pending results
  const IssueRecord* records = nullptr;
  std::uint32_t* registers = nullptr;  ///< rows of 32 lanes
  std::uint8_t block = 0, grid = 0;    ///< slots of the block and the grid
  std::uint8_t tenant = 0, warp_in_block = 0;
  alignas(64) PendingRows loads;  ///< results that memory will bring
  isa::WarpPaths paths;

  /// Fetches into the cache what every issue touches.
  void warm_for_issue() const;
  void warm_row(std::size_t row) const {
    constexpr std::size_t row_bytes = isa::warp_size * sizeof(std::uint32_t);
    warm(registers + row * isa::warp_size, row_bytes);
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(paths, pending.places, loads.places, warp_in_block, block, grid, tenant);
  }
};
static_assert(offsetof(Warp, loads) == 64);
static_assert(offsetof(Warp, paths) == 96, "what an undivided warp needs ends with the line");

inline void Warp::warm_for_issue() const {
  warm(this, offsetof(Warp, paths));
}

}  // namespace lockstep
