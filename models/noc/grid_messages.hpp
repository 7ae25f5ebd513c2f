/// What host, dispatcher and SMs say to each other about grids and thread blocks.
///
/// The host launches a grid at the dispatcher, which starts it on SMs and hands out its blocks;
/// SMs tell of blocks that are done, the dispatcher of grids.  All three rooms speak these, so they
/// stand below them.
/// Source: architecture.md, section 8, rules 5 and 11 (when a block is done; parameters travel with
/// the first block of a grid).
#pragma once

#include <array>
#include <cstdint>

#include "models/noc/messages.hpp"

namespace lockstep {

/// Body of launch_grid and start_grid.  Payload: `parameter_bytes` (rounded up to 8) of kernel
/// parameters, then `globals` 64-bit addresses of the module's .global variables.
struct GridLaunch {
  std::uint32_t grid = 0;  ///< unique in the run, in launch order at the host
  std::uint16_t tenant = 0;
  std::uint16_t module = 0;  ///< index in the scenario's modules
  std::uint16_t kernel = 0;
  std::uint16_t stream = 0;
  std::uint32_t priority = 0;
  std::array<std::uint32_t, 3> blocks{};
  std::array<std::uint32_t, 3> threads{};
  std::uint32_t dynamic_shared_bytes = 0;
  std::uint32_t parameter_bytes = 0;
  std::uint32_t globals = 0;
  std::uint32_t registers = 0;  ///< of a thread, for occupancy; 0: as many as the program has

  std::uint64_t block_count() const { return std::uint64_t{blocks[0]} * blocks[1] * blocks[2]; }
  std::uint32_t threads_per_block() const { return threads[0] * threads[1] * threads[2]; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(grid, tenant, module, kernel, stream, priority, blocks, threads, dynamic_shared_bytes,
            parameter_bytes, globals, registers);
  }
};
static_assert(sizeof(GridLaunch) == 56);

/// stop_grid.
struct GridStop {
  std::uint32_t grid = 0;
  std::uint32_t saves = 0;  ///< 1: blocks leave with their contexts; 0: they run to their end
};

/// end_grid, resume_grid, grid_stopped (`sm`: who says so).
struct GridReference {
  std::uint32_t grid = 0;
  std::uint32_t sm = 0;
};

/// start_block, block_saved, block_restored, block_returned.
struct BlockReference {
  std::uint32_t grid = 0;
  std::uint32_t sm = 0;
  std::uint64_t block = 0;  ///< linear index in the grid, x fastest

  template <class Archive>
  void serialize(Archive& archive) {
    archive(grid, sm, block);
  }
};

struct InstructionCount {
  std::uint64_t warp = 0, thread = 0;

  InstructionCount& operator+=(const InstructionCount& other) {
    warp += other.warp;
    thread += other.thread;
    return *this;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(warp, thread);
  }
};

/// block_done.
struct BlockDone {
  BlockReference block;
  InstructionCount executed;  ///< for the grid on this SM since its last block was done there
};
static_assert(sizeof(BlockDone) == 32);

/// grid_done.
struct GridDone {
  std::uint32_t grid = 0;
  std::uint32_t reserved = 0;
  InstructionCount executed;
};
static_assert(sizeof(GridDone) == 24);

/// instructions_reached.
struct TenantProgress {
  std::uint16_t tenant = 0;
  std::array<std::uint16_t, 3> reserved{};
  InstructionCount executed;  ///< in blocks that are done
};
static_assert(sizeof(TenantProgress) == 24);

}  // namespace lockstep
