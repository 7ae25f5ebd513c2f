#pragma once

#include <cstddef>
#include <cstdint>

#include "models/noc/grid_counts.hpp"

namespace lockstep {

/// Why a scheduler issued nothing in a cycle: the layers of the CPI stack.  When its warps wait for
/// different things the first of these counts: what is nearest to issuing.
enum class StallCause : std::uint8_t {
  unit,          ///< a warp is ready, its execution unit is not
  memory_queue,  ///< a memory instruction is ready, the load-store unit's queue is full
  log_full,      ///< its block's share of the operand log is full
  queue_full,    ///< its replay queue is full
  dependency,    ///< waits for a result of an execution unit, or for a source to be read
  late_source,   ///< a source that it overwrites is kept until its reader can fault no more
  fetch,       ///< its next instruction is not there, or its fetch is off behind one that may fault
  memory,      ///< waits for a load or atomic
  control,     ///< waits for its own branch, or for lanes that reconverge
  last_check,  ///< waits until its memory instructions can fault no more
  fence,       ///< waits for acknowledgements
  barrier,     ///< waits at a block barrier
  async_copy,  ///< waits for its asynchronous copies
  fault,       ///< stopped by a fault, or an access waits for a page that is not there
  drain,       ///< its threads are done, their last requests are not
  idle,        ///< no warp
  count,
};

inline constexpr std::size_t stall_causes = static_cast<std::size_t>(StallCause::count);
inline constexpr const char* stall_cause_names[stall_causes] = {
    "unit",       "memory_queue", "log_full", "queue_full", "dependency", "late_source",
    "fetch",      "memory",       "control",  "last_check", "fence",      "barrier",
    "async_copy", "fault",        "drain",    "idle"};
static_assert(stall_causes == GridCounts::stall_causes);

}  // namespace lockstep
