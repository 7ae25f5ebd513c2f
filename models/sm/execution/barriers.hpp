/// Named block barriers: sync, arrive and red, with and without a thread count.
///
/// Their meaning is in models/isa/barriers/named_barrier.hpp.  Source: architecture.md, section 8
/// "Divergence".
///
/// Simplified: a warp whose threads come by several paths to a barrier with a count is counted by
/// threads, not as 32.
///
/// Cost model: the waiting warps issue again `barrier_latency` after the last arrival.
#pragma once

#include <cstdint>

#include "models/sm/blocks/mistakes.hpp"
#include "models/sm/front_end/front_end.hpp"
#include "models/sm/parameters/sm_context.hpp"

namespace lockstep {

class Barriers {
 public:
  Barriers(const SmContext& sm, FrontEnd& front_end)
      : constants_(sm.constants),
        statistics_(sm.statistics),
        blocks_(sm.blocks),
        mistakes_(sm.mistakes),
        front_end_(front_end) {}

  /// Lets these lanes of the warp's current path arrive at a barrier.
  void arrive(WarpSlot slot, const isa::Instruction& instruction, std::uint32_t lanes, SmCycle now);
  /// A barrier may expect fewer threads than before.
  void check(BlockPlace place, unsigned number, SmCycle now);

 private:
  void release(WarpSlot slot, unsigned number, const NamedBarrier& done, SmCycle now);

  const SmConstants& constants_;
  SmStatistics& statistics_;
  ResidentBlocks& blocks_;
  Mistakes& mistakes_;
  FrontEnd& front_end_;
};

}  // namespace lockstep
