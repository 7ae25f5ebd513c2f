/// What some SMs do and others do not.
#pragma once

#include <cstdint>

namespace lockstep {

/// What an operation costs that ptxas expands.
enum class Expansions : std::uint8_t {
  slots,     ///< its issue slots, each with the latency and interval of its class
  sequence,  ///< the machine operations that it is made of: models/isa/opcodes/expansions.hpp
};

/// Which unit multiplies integers.
enum class MultiplyUnit : std::uint8_t { integer, fp32 };

/// When a source register of an instruction may be overwritten.
enum class SourceRelease : std::uint8_t { issue, operand_read };

/// Who waits for the acknowledgements of a block's stores.
enum class StoresDrainWith : std::uint8_t { block, grid };

/// How lanes of a warp that have parted get to run.
enum class ThreadScheduling : std::uint8_t {
  independent,  ///< by turns where they wait for each other: isa/divergence.hpp
  warp,         ///< a path runs until it waits at a barrier, meets the others or ends
};

}  // namespace lockstep
