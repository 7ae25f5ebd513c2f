#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "models/noc/grid_counts.hpp"

namespace lockstep {

/// Why a scheduler issued nothing in a cycle: the layers of the CPI stack.  When its warps wait for
/// different causes, the first one in this order counts: the nearest to issuing.
enum class StallCause : std::uint8_t {
  unit,          ///< a warp is ready, and its execution unit is busy
  memory_queue,  ///< a memory instruction is ready, and the queue of the load-store unit is full
  log_full,      ///< the warp's block has used up its share of the operand log
  queue_full,    ///< the warp's replay queue is full
  dependency,    ///< the warp waits for a result of an execution unit, or for a source to be read
  /// A source that the warp would overwrite is kept until its reader can fault no more.
  late_source,
  /// The warp's next instruction is not there, or fetch waits behind an instruction that may fault.
  fetch,
  memory,      ///< the warp waits for a load or atomic
  control,     ///< the warp waits for its own branch, or for lanes that reconverge
  last_check,  ///< the warp waits until its memory instructions can fault no more
  fence,       ///< the warp waits for acknowledgements
  barrier,     ///< the warp waits at a block barrier
  mbarrier,    ///< the warp waits for the phase of an mbarrier
  cluster,     ///< the warp waits at a barrier of its cluster
  async_copy,  ///< the warp waits for its asynchronous copies
  wgmma,       ///< the warp waits for products of its warp group, or for room among them
  registers,   ///< the warp waits for registers that warps of its block give back
  fault,       ///< the warp was stopped by a fault, or an access waits for an absent page
  drain,       ///< the warp's threads are done, its last requests are not
  idle,        ///< no warp is resident, or all warps are done while others of their blocks are not
  count,
};

inline constexpr std::size_t stall_causes = static_cast<std::size_t>(StallCause::count);

/// Facts of a cause: its name in outputs, and the words of reports for warps that wait for it.
struct StallCauseFacts {
  StallCause cause;
  const char* name;
  const char* awaited;
};
inline constexpr std::array<StallCauseFacts, stall_causes> stall_cause_facts{{
    {StallCause::unit, "unit", "a unit"},
    {StallCause::memory_queue, "memory_queue", "the memory queue"},
    {StallCause::log_full, "log_full", "the operand log"},
    {StallCause::queue_full, "queue_full", "the replay queue"},
    {StallCause::dependency, "dependency", "results"},
    {StallCause::late_source, "late_source", "sources to be free"},
    {StallCause::fetch, "fetch", "fetch"},
    {StallCause::memory, "memory", "memory"},
    {StallCause::control, "control", "branches"},
    {StallCause::last_check, "last_check", "their last checks"},
    {StallCause::fence, "fence", "acknowledgements"},
    {StallCause::barrier, "barrier", "barriers"},
    {StallCause::mbarrier, "mbarrier", "phases of mbarriers"},
    {StallCause::cluster, "cluster", "barriers of their clusters"},
    {StallCause::async_copy, "async_copy", "asynchronous copies"},
    {StallCause::wgmma, "wgmma", "products of their warp groups"},
    {StallCause::registers, "registers", "registers of their blocks"},
    {StallCause::fault, "fault", "pages"},
    {StallCause::drain, "drain", "their last requests"},
    {StallCause::idle, "idle", "a block"},
}};
constexpr bool facts_are_in_order() {
  for (std::size_t c = 0; c < stall_causes; ++c)
    if (static_cast<std::size_t>(stall_cause_facts[c].cause) != c) return false;
  return true;
}
static_assert(facts_are_in_order(), "the rows stand in the order of enum StallCause");

struct StallCauseNames {
  const char* of[stall_causes] = {};
  constexpr StallCauseNames() {
    for (std::size_t c = 0; c < stall_causes; ++c) of[c] = stall_cause_facts[c].name;
  }
};
inline constexpr StallCauseNames stall_cause_texts;
inline constexpr auto& stall_cause_names = stall_cause_texts.of;
static_assert(stall_causes == GridCounts::stall_causes);

}  // namespace lockstep
