/// Issue: a chosen warp's next instruction leaves the instruction buffer.
///
/// What only computes is executed at once; its destinations stay pending until it commits.
/// Source: architecture.md, section 3 "sm"; gpu-parameters.md, section 3 "Sub-core model".
#pragma once

#include <cstdint>

#include "models/sm/execution/control.hpp"
#include "models/sm/execution/memory_issue.hpp"
#include "models/sm/execution/shared_memory.hpp"

namespace lockstep {

class Issue {
 public:
  Issue(const SmConstants& constants, ResidentBlocks& blocks, FrontEnd& front_end,
        SharedMemoryUnit& shared, MemoryIssue& memory, ControlUnit& control)
      : constants_(constants),
        blocks_(blocks),
        front_end_(front_end),
        shared_(shared),
        memory_(memory),
        control_(control) {}

  /// The warp's next instruction; throws a Mistake of its threads.
  void issue(WarpSlot slot, SmCycle now);

 private:
  void execute(const Warp& warp, const GridSlot& grid, const isa::Instruction& instruction,
               const IssueRecord& record, std::uint32_t active, SmCycle now) const;
  isa::WarpIdentity identity_of(const Warp& warp, SmCycle now) const;

  const SmConstants& constants_;
  ResidentBlocks& blocks_;
  FrontEnd& front_end_;
  SharedMemoryUnit& shared_;
  MemoryIssue& memory_;
  ControlUnit& control_;
};

}  // namespace lockstep
