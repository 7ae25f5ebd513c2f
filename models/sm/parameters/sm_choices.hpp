/// Choices between ways in which SMs of different GPUs work.
#pragma once

#include <cstdint>

namespace lockstep {

/// Cost of an operation that ptxas expands.
enum class Expansions : std::uint8_t {
  slots,     ///< issue slots of the operation, each with the latency and interval of its class
  sequence,  ///< machine operations of the expansion: models/isa/opcodes/expansions.hpp
};

/// Unit that multiplies integers.
enum class MultiplyUnit : std::uint8_t { integer, fp32 };

/// Warp scheduler that the GPU's file sets for scenarios that choose none.
enum class DefaultScheduler : std::uint8_t { gto, lrr };

/// Moment from which a source register of an instruction may be overwritten.
enum class SourceRelease : std::uint8_t { issue, operand_read };

/// Waiting for the acknowledgements of a block's stores: the thread block waits, or its grid.
enum class StoresDrainWith : std::uint8_t { block, grid };

/// Scheduling of lanes of a warp that have parted.
enum class ThreadScheduling : std::uint8_t {
  independent,  ///< paths that wait for each other take turns: isa/divergence.hpp
  warp,         ///< a path runs until it waits at a barrier, meets the others or ends
};

}  // namespace lockstep
