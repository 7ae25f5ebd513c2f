/// barrier.cluster: threads arrive, and wait for all threads of the blocks of their cluster.
///
/// The SM counts the threads of a block.  When all that have not ended have arrived it tells the
/// hub, which says when all blocks have.  Each thread arrives once and then waits; which lanes have
/// arrived in the phase that is not complete is kept by warp, so that a thread that comes late to
/// its wait goes on at once although others have arrived in the next phase.
/// Source: PTX ISA 8.x, "barrier.cluster"; modern-isa.md, sections 3.7 and 5.8.
///
/// Simplified: what PTX leaves undefined is a mistake: a second arrival before the wait, and a wait
/// without an arrival.  If some lanes of a path must wait, the whole path waits.
///
/// Cost model: the warps go on `noc.hub.barrier_latency` after the hub's word has come.
#pragma once

#include <cstdint>

#include "models/sm/blocks/mistakes.hpp"
#include "models/sm/cluster/cluster_blocks.hpp"
#include "models/sm/front_end/front_end.hpp"
#include "models/sm/l1/l1.hpp"
#include "models/sm/parameters/sm_context.hpp"

namespace lockstep {

class ClusterBarriers {
 public:
  ClusterBarriers(const SmContext& sm, FrontEnd& front_end, L1& l1, ClusterBlocks& members)
      : constants_(sm.constants),
        statistics_(sm.statistics),
        blocks_(sm.blocks),
        mistakes_(sm.mistakes),
        front_end_(front_end),
        l1_(l1),
        members_(members) {}

  /// Lanes of the warp's current path arrive or wait.
  void issue(WarpSlot slot, const isa::Instruction& instruction, const IssueRecord& record,
             std::uint32_t lanes, SmCycle now);
  /// Notes that threads of the block have ended, so that the barrier need not wait for them.
  void threads_ended(BlockPlace place, SmCycle now) {
    if (members_[place].arrived != 0) [[unlikely]]
      check(place, now);
  }
  /// Releases the warps of the block, because all threads of the cluster have arrived.
  void released(const ClusterBlock& block, SmCycle now) {
    release(members_.place_of(block.grid, block.cluster, block.rank), now);
  }

 private:
  void check(BlockPlace place, SmCycle now);
  void release(BlockPlace place, SmCycle now);

  const SmConstants& constants_;
  SmStatistics& statistics_;
  ResidentBlocks& blocks_;
  Mistakes& mistakes_;
  FrontEnd& front_end_;
  L1& l1_;
  ClusterBlocks& members_;
};

}  // namespace lockstep
