#pragma once

#include <cstddef>
#include <cstdint>

namespace lockstep {

/// Why a scheduler issued nothing in a cycle: the layers of the CPI stack.  When its warps wait for
/// different things the first of these counts: what is nearest to issuing.
enum class StallCause : std::uint8_t {
  unit,          ///< a warp is ready, its execution unit is not
  memory_queue,  ///< a memory instruction is ready, the load-store unit's queue is full
  dependency,    ///< waits for a result of an execution unit
  memory,        ///< waits for a load or atomic
  control,       ///< waits for its own branch, or for lanes that reconverge
  fence,         ///< waits for acknowledgements
  barrier,       ///< waits at a block barrier
  drain,         ///< its threads are done, their last requests are not
  idle,          ///< no warp
  count,
};

inline constexpr std::size_t stall_causes = static_cast<std::size_t>(StallCause::count);

}  // namespace lockstep
