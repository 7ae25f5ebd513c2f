/// Occupancy: how many thread blocks of a kernel fit in an SM at once.
///
/// A block needs thread, warp and block slots, registers, shared memory and entries of the operand
/// log where there is one; the scarcest decides.
/// Registers are given to warps, shared memory to blocks, each in units.  Named barriers are a
/// limit of each block, not of the SM.
/// Source: gpu-parameters.md, section 3 (limits) and section 17 (allocation in units).
///
/// Simplified: registers are one pool for the SM; a limit per sub-core (a quarter each) is not
/// modelled, since warps are dealt to sub-cores evenly.
#pragma once

#include <cstdint>
#include <string>

#include "models/isa/program.hpp"
#include "models/sm/parameters/placement.hpp"

namespace lockstep {

/// Resources that an SM offers to thread blocks.
struct OccupancyLimits {
  std::uint32_t threads = 2048, warps = 64, blocks = 32, registers = 65536;
  std::uint32_t shared_bytes = 98304, shared_bytes_per_block = 98304, barriers = 16;
  std::uint32_t threads_per_block = 1024;
  std::uint32_t register_unit = 256;  ///< registers of a warp come in units of this many
  std::uint32_t shared_unit = 256;    ///< unit of shared memory, bytes
  std::uint32_t log_entries = 0;      ///< entries of the operand log; 0: there is none
  Placement placement = Placement::summed;
};

/// Resources of one block or of several together; sums are taken field by field.
struct BlockResources {
  std::uint32_t threads = 0, warps = 0, blocks = 0, registers = 0, shared_bytes = 0, barriers = 0;
  std::uint32_t log_entries = 0;  ///< least entries of a block: those of its largest instruction

  BlockResources& operator+=(const BlockResources& other);
  BlockResources& operator-=(const BlockResources& other);
  /// Returns whether `more` fits beside these resources.
  bool leaves_room_for(const BlockResources& more, const OccupancyLimits& limits) const;
  /// dominant_share() returns the largest share that these resources have of any of the limits, as
  /// a part of `whole`.
  static constexpr std::uint64_t whole = 1 << 20;
  std::uint64_t dominant_share(const OccupancyLimits& limits) const;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(threads, warps, blocks, registers, shared_bytes, barriers, log_entries);
  }
};

/// Returns the resources that a block of the program takes.  `registers`: registers of a thread,
/// where the launch states them; 0: as many as the program has.
BlockResources block_resources(const isa::Program& program, std::uint32_t threads,
                               std::uint32_t dynamic_shared_bytes, const OccupancyLimits& limits,
                               std::uint32_t registers = 0);

/// Returns the limit that a single block breaks, as a sentence for the user; "" when the block
/// fits.
std::string why_block_does_not_fit(const BlockResources& block, const OccupancyLimits& limits);

/// Returns the most registers that a thread can have in a block of `threads` threads.
std::uint32_t registers_that_fit(std::uint32_t threads, const OccupancyLimits& limits);

/// Returns the number of blocks that an SM holds when nothing else runs there.
std::uint32_t blocks_per_sm(const BlockResources& block, const OccupancyLimits& limits);

}  // namespace lockstep
