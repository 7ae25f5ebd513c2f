/// Issue: a chosen warp's next instruction leaves the instruction buffer.
///
/// An instruction that only computes is executed at once; its destinations stay pending until it
/// commits.
/// Source: architecture.md, section 3 "sm"; gpu-parameters.md, section 3 "Sub-core model".
#pragma once

#include <cstdint>

#include "models/sm/bulk/bulk_engine.hpp"
#include "models/sm/execution/control.hpp"
#include "models/sm/execution/grid_dependencies.hpp"
#include "models/sm/execution/memory_issue.hpp"
#include "models/sm/execution/shared_memory.hpp"
#include "models/sm/execution/warpgroup_unit.hpp"
#include "models/sm/fetch/constant_cache.hpp"
#include "models/sm/fetch/instruction_cache.hpp"
#include "models/sm/parameters/sm_context.hpp"

namespace lockstep {

class Issue {
 public:
  Issue(const SmContext& sm, FrontEnd& front_end, FaultableAccesses& faultable,
        LoadStoreUnit& load_store, SharedMemoryUnit& shared, MemoryIssue& memory,
        ControlUnit& control, InstructionCache& code, ConstantCache& constant_cache,
        Mbarriers& mbarriers, BulkEngine& bulk, WarpgroupUnit& warpgroups,
        GridDependencies& dependencies, RemoteAccesses& remote)
      : constants_(sm.constants),
        blocks_(sm.blocks),
        front_end_(front_end),
        faultable_(faultable),
        load_store_(load_store),
        shared_(shared),
        memory_(memory),
        control_(control),
        code_(code),
        constant_cache_(constant_cache),
        mbarriers_(mbarriers),
        bulk_(bulk),
        warpgroups_(warpgroups),
        dependencies_(dependencies),
        remote_(remote),
        fetches_(sm.constants.parameters.fetches()),
        preemptible_(faultable.preemptible()),
        reads_late_(sm.constants.parameters.source_release == SourceRelease::operand_read),
        follows_blocks_(sm.constants.setup.follows_blocks) {}

  /// Issues the warp's next instruction; throws a Mistake of its threads.
  void issue(WarpSlot slot, SmCycle now) {
    follows_ ? issue_as<true>(slot, now) : issue_as<false>(slot, now);
  }

 private:
  /// `follows`: exception schemes, the release of sources, or preemptions follow the issued
  /// instructions.
  template <bool follows>
  void issue_as(WarpSlot slot, SmCycle now);
  /// Lets an instruction pass that waits for something beyond its operands; false: the warp waits.
  bool in_order(WarpSlot slot, const isa::Instruction& instruction, const IssueRecord& record,
                SmCycle now);
  /// A wait for asynchronous copies may pass; false: the warp waits.
  bool are_copies_through(WarpSlot slot, const isa::Instruction& wait, const IssueRecord& record,
                          SmCycle now);
  void access_matrices(WarpSlot slot, const isa::Instruction& instruction,
                       const IssueRecord& record, std::uint32_t active, SmCycle now);
  /// Returns whether a last condition held the instruction back, so that it has not issued.
  bool refused(WarpSlot slot, const GridSlot& grid, std::uint32_t pc, const IssueRecord& record,
               std::uint32_t active);
  /// Returns whether the instruction is in the SM, and so are the parameters of its grid.
  bool fetched(WarpSlot slot, GridSlot& grid, std::uint32_t pc, SmCycle now);
  /// Re-issues the warp's next squashed instruction.
  void issue_again(WarpSlot slot, SmCycle now);
  /// Protects the instruction's source registers until they have been read.
  void read_operands(WarpSlot slot, const std::vector<PreciseRecord>& records, std::uint32_t pc,
                     SmCycle now);
  /// Returns the instruction's number among those that may fault; none: it cannot fault.
  std::uint16_t follow(WarpSlot slot, const GridSlot& grid, std::uint32_t pc, SmCycle now);
  /// Counts the instruction for its block.
  void count(Warp& warp, const GridSlot& grid, std::uint32_t pc, const IssueRecord& record,
             std::uint32_t active);
  void execute(const Warp& warp, const GridSlot& grid, const isa::Instruction& instruction,
               const IssueRecord& record, std::uint32_t active, SmCycle now) const;
  /// Executes as execute() does, but the warp goes on only when the result is there.
  void execute_through(WarpSlot slot, const isa::Instruction& instruction,
                       const IssueRecord& record, std::uint32_t active, SmCycle now);
  isa::WarpIdentity identity_of(const Warp& warp, SmCycle now) const;

  const SmConstants& constants_;
  ResidentBlocks& blocks_;
  FrontEnd& front_end_;
  FaultableAccesses& faultable_;
  LoadStoreUnit& load_store_;
  SharedMemoryUnit& shared_;
  MemoryIssue& memory_;
  ControlUnit& control_;
  InstructionCache& code_;
  ConstantCache& constant_cache_;
  Mbarriers& mbarriers_;
  BulkEngine& bulk_;
  WarpgroupUnit& warpgroups_;
  GridDependencies& dependencies_;
  RemoteAccesses& remote_;
  const bool fetches_;
  const bool preemptible_, reads_late_, follows_blocks_,
      follows_ = preemptible_ || reads_late_ || follows_blocks_;
};

}  // namespace lockstep
