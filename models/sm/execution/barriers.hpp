/// Named block barriers: sync, arrive and red, with and without a thread count.
///
/// A barrier counts threads.  Without a count it waits for all threads of the block that have not
/// exited.  Source: PTX ISA, "bar / barrier"; architecture.md, section 8 "Divergence".
///
/// Cost model: the waiting warps issue again `barrier_latency` after the last arrival.
#pragma once

#include <cstdint>

#include "models/sm/blocks/mistakes.hpp"
#include "models/sm/front_end/front_end.hpp"

namespace lockstep {

class Barriers {
 public:
  Barriers(const SmConstants& constants, SmStatistics& statistics, ResidentBlocks& blocks,
           Mistakes& mistakes, FrontEnd& front_end)
      : constants_(constants),
        statistics_(statistics),
        blocks_(blocks),
        mistakes_(mistakes),
        front_end_(front_end) {}

  /// These lanes of the warp's current path come to a barrier.
  void arrive(WarpSlot slot, const isa::Instruction& instruction, std::uint32_t lanes, SmCycle now);
  /// A barrier may expect fewer threads than before.
  void check(BlockPlace place, unsigned number, SmCycle now);

 private:
  void release(WarpSlot slot, unsigned number, const NamedBarrier& done, std::uint32_t expected,
               SmCycle now);
  static void write_reduction(const isa::WarpContext& context, const isa::Instruction& instruction,
                              std::uint32_t lanes, std::uint32_t population, std::uint32_t threads);

  const SmConstants& constants_;
  SmStatistics& statistics_;
  ResidentBlocks& blocks_;
  Mistakes& mistakes_;
  FrontEnd& front_end_;
};

}  // namespace lockstep
