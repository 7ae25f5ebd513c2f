/// Barriers of mbarrier: their words in shared memory, the paths of warps that wait for a phase,
/// and arrivals that warps owe behind their asynchronous copies.
///
/// A path that waits leaves the warp to its others, and costs nothing while it does: what completes
/// a phase looks at all that wait in its block, and lets go those whose phase is over.  When its
/// time is up a path goes on without.  A path whose lanes wait for several barriers goes on when
/// the first of them is complete.
///
/// What waits belongs to the block (BlockSlot::phase_waits), what is owed to the warp's slot; both
/// leave with a context.
/// What the instructions mean stands in models/isa/barriers/mbarrier.hpp.  Source: modern-isa.md,
/// section 5.5.
///
/// Simplified: an arrival behind copies comes when the earlier copies of all lanes of the warp are
/// through. A store to a barrier's word by other instructions wakes no path before its time is up.
///
/// A wait that acquires beyond the block, for what other blocks of a cluster have written, drops
/// the SM's clean sectors.
///
/// Cost model: a wait takes the banks like a load of 8 bytes, and its result comes with the latency
/// of one and of an integer instruction, after the issue or after the last arrival.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/sm/access/lane_pattern.hpp"
#include "models/sm/blocks/mistakes.hpp"
#include "models/sm/bulk/transactions.hpp"
#include "models/sm/cluster/arrivals.hpp"
#include "models/sm/front_end/front_end.hpp"
#include "models/sm/l1/l1.hpp"
#include "models/sm/parameters/sm_context.hpp"

namespace lockstep {

class Mbarriers final : public SuspendedWaits, public Transactions, public Arrivals {
 public:
  /// Lanes of an instruction that arrive when copies are through.
  struct Owed {
    std::uint16_t mark = 0;  ///< mark from CopyGroups for the copies
    std::uint32_t pc = 0, lanes = 0;
    /// Address for each lane, in the block's shared memory.
    std::array<std::uint32_t, 32> address{};

    template <class Archive>
    void serialize(Archive& archive) {
      archive(mark, pc, lanes);
      for (unsigned lane = 0; lane < 32; ++lane)
        if ((lanes >> lane & 1) != 0) archive(address[lane]);
    }
  };

  Mbarriers(const SmContext& sm, FrontEnd& front_end, L1& l1)
      : constants_(sm.constants),
        statistics_(sm.statistics),
        blocks_(sm.blocks),
        mistakes_(sm.mistakes),
        front_end_(front_end),
        l1_(l1),
        timers_(sm.constants.parameters.warps, no_cycle),
        owed_(sm.constants.parameters.warps) {}

  /// Executes the lanes' operations on barriers, at `first` + relative of the block's shared
  /// memory.
  void change(WarpSlot slot, const isa::Instruction& instruction, std::uint32_t active,
              std::byte* first, const LanePattern& pattern, SmCycle now);
  void complete(WarpSlot slot, std::uint32_t pc, unsigned lane, std::uint32_t offset,
                std::uint64_t bytes, SmCycle now) override;
  /// Executes mbarrier_wait: the warp goes on, or one of its paths waits.
  void wait(WarpSlot slot, const isa::Instruction& instruction, const IssueRecord& record,
            std::uint32_t active, SmCycle now);

  void copies_came(WarpSlot slot, SmCycle now) override;
  void limit_came(WarpSlot slot, SmCycle now) override;
  void forget(WarpSlot slot) override { owed_[slot.value()].clear(); }

  std::optional<std::uint64_t> arrive(BlockPlace place, std::uint32_t offset,
                                      isa::AtomicOperation operation, std::uint64_t count,
                                      SmCycle now) override;

  // Contexts.
  /// Removes and returns the arrivals that the warp owes.
  std::vector<Owed> take_out(WarpSlot slot);
  /// Adds the arrivals that a returned warp owes, behind all copies that it issues again.
  void put_in(WarpSlot slot, std::vector<Owed> owed, SmCycle now);
  /// Stops the timers of a block that leaves or returns: the times of its waits count from zero
  /// meanwhile.
  void stop_timers(BlockPlace place, SmCycle now);
  void start_timers(BlockPlace place, SmCycle now);

  void serialize(Archive& archive) {
    archive.section("sm/mbarriers", 1);
    archive(timers_, owed_);
  }

 private:
  WarpSlot slot_of(const BlockSlot& block, std::uint8_t warp_in_block) const;
  CopyGroups& copies() { return blocks_.under_way().copies(); }
  std::uint64_t word_at(const BlockSlot& block, std::uint64_t offset) const;
  /// Does an operation without a mistake.  Returns whether it completes a phase.
  bool step(const BlockSlot& block, std::uint64_t offset, isa::AtomicOperation operation,
            std::uint64_t count);
  /// Returns the lanes whose phase is over. `checks`: throw mistakes of lanes.
  std::uint32_t lanes_with_phase_over(const Warp& warp, const isa::Instruction& instruction,
                                      std::uint32_t lanes, bool checks) const;
  SmCycle limit_of(const Warp& warp, const isa::Instruction& instruction, std::uint32_t active,
                   SmCycle now) const;
  /// Returns the cycle from which the banks are free that serve these lanes.
  SmCycle serve(const Warp& warp, const isa::Instruction& instruction, std::uint32_t active,
                SmCycle now);
  /// Lets a path of a warp with this record, after its wait, read what was released.
  void acquire(const IssueRecord& record) {
    if ((record.flags & IssueRecord::ordered_after) != 0) l1_.drop_clean();
  }
  void let_go(BlockPlace place, const PhaseWait& wait, std::uint32_t complete, SmCycle now);
  void wake(BlockPlace place, SmCycle now);
  void arm(WarpSlot slot, SmCycle until);
  void owe(WarpSlot slot, Owed owed, SmCycle now);
  void arrive(WarpSlot slot, const Owed& owed, SmCycle now);

  const SmConstants& constants_;
  SmStatistics& statistics_;
  ResidentBlocks& blocks_;
  Mistakes& mistakes_;
  FrontEnd& front_end_;
  L1& l1_;
  std::vector<SmCycle> timers_;          ///< earliest timer event of each warp
  std::vector<std::vector<Owed>> owed_;  ///< owed arrivals of each warp, the oldest first
};

}  // namespace lockstep
