/// Memory instructions, and the memory in which each of their addresses lies.
///
/// Generic addresses of one instruction may lie in several memories.  Destinations of such an
/// access commit when the slower part has its answers.
/// Source: PTX ISA, "Generic Addressing"; architecture.md, section 8, rule 11 (windows).
#pragma once

#include <cstdint>

#include "models/sm/cluster/remote_accesses.hpp"
#include "models/sm/execution/constant_memory.hpp"
#include "models/sm/execution/shared_memory.hpp"
#include "models/sm/load_store/load_store_unit.hpp"
#include "models/sm/parameters/sm_context.hpp"

namespace lockstep {

class MemoryIssue {
 public:
  MemoryIssue(const SmContext& sm, SharedMemoryUnit& shared, ConstantMemory& constant,
              LoadStoreUnit& load_store, Flights& flights, FaultableAccesses& faultable,
              RemoteAccesses& remote)
      : follows_words_(sm.constants.setup.follows_blocks &&
                       sm.constants.setup.idempotence == IdempotenceCheck::words),
        blocks_(sm.blocks),
        mistakes_(sm.mistakes),
        shared_(shared),
        constant_(constant),
        load_store_(load_store),
        flights_(flights),
        faultable_(faultable),
        remote_(remote) {}

  /// Issues a memory instruction. Returns true when the warp must wait for the value (an acquire).
  /// `member`: the instruction's number among those that may fault.
  bool issue(WarpSlot slot, const isa::Instruction& instruction, const IssueRecord& record,
             std::uint32_t active, std::uint16_t member, SmCycle now);

 private:
  void issue_matrices(WarpSlot slot, const isa::Instruction& instruction, const IssueRecord& record,
                      std::uint32_t active, SmCycle now);
  /// Reports lanes whose address is not one of an mbarrier.
  void require_barriers(const Warp& warp, const isa::Instruction& instruction, std::uint32_t active,
                        const LaneAddresses& address) const;
  /// Reports lanes whose address is no multiple of `bytes`, a power of two.
  void require_aligned(const Warp& warp, const LaneAddresses& address, std::uint32_t active,
                       unsigned bytes) const;
  /// The block's words, if these say whether it can be repeated.
  void follow_words(const Warp& warp, const isa::Instruction& instruction, std::uint32_t active);
  void issue_copy(WarpSlot slot, const isa::Instruction& instruction, const IssueRecord& record,
                  std::uint32_t active, std::uint16_t member, SmCycle now);
  /// Issues an access to shared memory of the cluster: of the warp's own block, or of others.
  bool issue_cluster(WarpSlot slot, const isa::Instruction& instruction, const IssueRecord& record,
                     std::uint32_t active, const LaneAddresses& wide, std::uint16_t member,
                     SmCycle now);
  bool issue_generic(WarpSlot slot, const isa::Instruction& instruction, const IssueRecord& record,
                     std::uint32_t active, const LaneAddresses& generic, std::uint16_t member,
                     SmCycle now);

  const bool follows_words_;
  ResidentBlocks& blocks_;
  Mistakes& mistakes_;
  SharedMemoryUnit& shared_;
  ConstantMemory& constant_;
  LoadStoreUnit& load_store_;
  Flights& flights_;
  FaultableAccesses& faultable_;
  RemoteAccesses& remote_;
};

}  // namespace lockstep
