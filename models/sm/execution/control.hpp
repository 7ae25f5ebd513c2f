/// Branches, calls, exits, fences, and actions that several paths of a warp do together.
///
/// A release waits until L2 has acknowledged the warp's own stores and atomics and those of its
/// block that a barrier has ordered before it.  Block scope needs only the SM's own order.
/// Source: models/isa/divergence.hpp (reconvergence); architecture.md, section 8, rule 4 (fences);
/// gpu-parameters.md, section 5 (branch unit); PTX ISA, "nanosleep".
///
/// Cost model: after a branch, call, return or barrier the instruction buffer is empty, so that the
/// warp issues again after the control unit's latency, or after `latency.taken_branch` where lanes
/// take a branch, call or return.  nanosleep takes as long as its
/// longest-sleeping lane asks for, a millisecond at most.
#pragma once

#include <cstdint>
#include <vector>

#include "models/sm/blocks/mistakes.hpp"
#include "models/sm/cluster/cluster_barriers.hpp"
#include "models/sm/execution/barriers.hpp"
#include "models/sm/execution/printing.hpp"
#include "models/sm/front_end/front_end.hpp"
#include "models/sm/l1/l1.hpp"
#include "models/sm/parameters/sm_context.hpp"

namespace lockstep {

class ControlUnit {
 public:
  ControlUnit(const SmContext& sm, FrontEnd& front_end, L1& l1, Barriers& barriers,
              ClusterBarriers& cluster_barriers, Printing& printing)
      : constants_(sm.constants),
        statistics_(sm.statistics),
        blocks_(sm.blocks),
        mistakes_(sm.mistakes),
        front_end_(front_end),
        l1_(l1),
        barriers_(barriers),
        cluster_barriers_(cluster_barriers),
        printing_(printing) {}

  void issue(WarpSlot slot, const isa::Instruction& instruction, const IssueRecord& record,
             std::uint32_t active, SmCycle now);
  /// Gathers the lanes that execute the current path's instruction together.  Returns these lanes;
  /// 0: the path waits for others, and nothing is left to do.
  std::uint32_t gather(WarpSlot slot, std::uint32_t members, SmCycle now);
  /// Executes an instruction that names the lanes which execute it together.
  void execute_together(WarpSlot slot, const isa::Instruction& instruction,
                        const IssueRecord& record, std::uint32_t active, SmCycle now);

 private:
  using Arms = std::vector<isa::WarpPaths::Arm>;

  Arms branch_targets(const Warp& warp, const isa::Instruction& instruction,
                      std::uint32_t active) const;
  Arms called_functions(const Warp& warp, const isa::Instruction& instruction,
                        std::uint32_t active) const;
  void fence(WarpSlot slot, Warp& warp, const IssueRecord& record, SmCycle now);
  /// `end` takes `active` lanes off; barriers then expect fewer threads.
  template <class End>
  void end_lanes(Warp& warp, End&& end, std::uint32_t active, SmCycle now);

  const SmConstants& constants_;
  SmStatistics& statistics_;
  ResidentBlocks& blocks_;
  Mistakes& mistakes_;
  FrontEnd& front_end_;
  L1& l1_;
  Barriers& barriers_;
  ClusterBarriers& cluster_barriers_;
  Printing& printing_;
};

}  // namespace lockstep
