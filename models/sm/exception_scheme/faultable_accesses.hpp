/// Memory instructions that may fault, in program order by warp: a fault squashes some of their
/// lanes, which are issued again later.
///
/// An access is through when all its lines have found their translations, and `last check` is that
/// cycle plus the latency of the pipeline in front of the tags.  When a page is refused, the
/// access keeps the lanes whose lines have left; the others are squashed and the warp stops.  When
/// a page has been replayed, the warp issues again, in program order, what waits for it - with the
/// recorded lanes, not with its guard - and goes on when nothing is left.
/// Source: 000, sections 3.1 to 3.3; virtual-memory-and-exceptions.md, section 2 with its errata
/// (lines leave as they are checked).
///
/// Simplified: a warp re-issues the accesses of one page as soon as that page is there, even if
/// older squashed accesses wait for other pages. Waiting for all pages could block a full memory,
/// since a page that waits for its replay is never evicted.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/memory/ring.hpp"
#include "core/memory/slot_pool.hpp"
#include "models/sm/exception_scheme/exception_scheme.hpp"
#include "models/sm/exception_scheme/faultable_access.hpp"
#include "models/sm/front_end/checked_accesses.hpp"
#include "models/sm/parameters/sm_context.hpp"

namespace lockstep {

class FaultableAccesses final : public CheckedAccesses {
 public:
  static constexpr std::uint16_t none = FaultableAccess::none;

  FaultableAccesses(const SmContext& sm, FrontEnd& front_end);

  /// Returns whether faults squash; false: they wait in the load-store unit, and nothing is
  /// followed here.
  bool preemptible() const { return preemptible_; }
  bool logs_operands() const { return scheme_->logs_operands(); }
  bool hears_commits() const { return hears_commits_; }

  // The pipeline.
  /// Returns why the warp's next instruction must not issue, beyond its operands.
  std::optional<StallCause> refusal(WarpSlot warp, const PreciseRecord& record) const;
  /// The warp's instruction has issued.  Returns the number of its access.
  std::uint16_t begin(WarpSlot warp, std::uint32_t pc, SmCycle now);
  /// The results of the access come with this flight.
  void flies(std::uint16_t access, std::uint16_t flight) { accesses_[access].flight = flight; }
  /// Notes that all lines of the access have left the load-store unit. Returns whether none was
  /// squashed, so that the access cannot fault any more.
  bool left_unit(std::uint16_t access, SmCycle now);
  void last_check(WarpSlot warp, SmCycle now) override;
  /// Notes that the flight's results can be used from `when` on: the cycle after its commit.
  void commits_before(SmCycle when, WarpSlot warp, std::uint16_t flight);
  void committed(WarpSlot warp, SmCycle now) override;
  void block_entered(BlockPlace place);

  // Faults.
  FaultableAccess& operator[](std::uint16_t access) { return accesses_[access]; }
  /// Squashes the lanes, which will not leave the load-store unit, and stops their warp.
  void squash(const SquashedLanes& lanes, SmCycle now);
  /// Returns squashed lanes of an older access of the warp on this page, which the access must not
  /// pass; nullptr: none.
  const SquashedLanes* passed_by(std::uint16_t access, TlbKey page) const;
  /// Issues the accesses again that wait for the page, because it has been replayed.  Returns false
  /// if none waits.
  bool come(TlbKey page, SmCycle now);
  /// Returns the access that the warp can issue again now; none: there is none.
  std::uint16_t next_again(WarpSlot warp) const;
  /// Takes the lanes and lines that the access still has to do, because it is issued again.
  SquashedLanes take_squashed(std::uint16_t access);
  /// Decides what the warp does next, after it has re-issued an instruction.
  void go_on(WarpSlot warp, SmCycle now);
  /// Ends the accesses of a tenant that has been ended. Calls function(access) for each access with
  /// lines that have not found their translations, and forgets its squashed lanes for good.
  template <class Function>
  void drop_tenant(TenantId tenant, Function&& function, SmCycle now);
  bool stopped(WarpSlot warp) const { return front_end_.held().stopped(warp); }
  /// Calls function(lanes) for all squashed lanes, by warp slot and in program order.
  template <class Function>
  void for_each_squashed(Function&& function) {
    for_each_warp(stopped_warps(), [&](WarpSlot warp) { for_each_squashed_of(warp, function); });
  }
  WarpSlot warp_of(std::uint16_t access) const { return WarpSlot(accesses_[access].warp); }

  // Warps of blocks that leave the SM and return.
  /// Returns whether all accesses of the warp are squashed and have left the load-store unit.
  bool all_squashed(WarpSlot warp) const;
  /// Returns whether the block has returned and an access squashed before that has not found all
  /// its translations yet.
  bool owes(const BlockSlot& block) const;
  /// Calls function(access) for the accesses of the warp, in program order.
  template <class Function>
  void for_each_of(WarpSlot warp, Function&& function) const {
    for (std::uint16_t index = warps_[warp.value()].first; index != none;
         index = accesses_[index].next)
      function(accesses_[index]);
  }
  /// Returns the warp's oldest access; none: the warp has no access.
  std::uint16_t first_of_warp(WarpSlot warp) const { return warps_[warp.value()].first; }
  /// The warp's oldest access leaves.  Returns its squashed lanes.
  std::vector<SquashedLanes> take_out(std::uint16_t access, SmCycle now);
  /// Adds an access that had left with its block, behind the warp's other accesses.  Returns its
  /// number.
  std::uint16_t put_in(WarpSlot warp, std::uint32_t pc, SmCycle issued,
                       std::vector<SquashedLanes> lanes);
  /// Lets a warp go on that is in a slot again with its accesses.
  void go_on_after_return(WarpSlot warp, SmCycle now);
  /// The warp's block was to leave, and does not.
  void go_on_after_stop(WarpSlot warp, SmCycle now);
  /// Warps with squashed accesses.
  std::uint64_t stopped_warps() const { return front_end_.held().stopped(); }

  void serialize(Archive& archive);

 private:
  struct OfWarp {
    std::uint16_t first = none, unchecked = 0;
    /// Bit n: the warp may have squashed lines of a page whose number is n modulo 64.
    std::uint64_t squashed_pages = 0;
    template <class A>
    void serialize(A& archive) {
      archive(first, unchecked, squashed_pages);
    }
  };

  const PreciseRecord& record_of(const FaultableAccess& access) const;
  /// Adds an access as the warp's youngest.  Returns its number.
  std::uint16_t follow(WarpSlot warp, std::uint32_t pc, SmCycle issued);
  void leave_if_done(std::uint16_t access);
  void looked_up(std::uint16_t access, SmCycle now);
  void add_squashed(const SquashedLanes& lanes);
  template <class Function>
  void for_each_squashed_of(WarpSlot warp, Function&& function) {
    for_each_of(warp, [&](const FaultableAccess& access) {
      for (std::uint16_t at = access.first_squashed; at != none; at = squashed_[at].next)
        function(squashed_[at]);
    });
  }
  /// Calls function(lanes) for the squashed lanes of the access, and forgets them.
  template <class Function>
  void forget_squashed(std::uint16_t access, Function&& function);
  /// Lets the warp go on if it has nothing squashed.
  void update_stop(WarpSlot warp);
  ExceptionScheme::Pipeline pipeline() const {
    return {constants_, statistics_, blocks_, front_end_};
  }

  const SmConstants& constants_;
  SmStatistics& statistics_;
  ResidentBlocks& blocks_;
  FrontEnd& front_end_;
  const std::unique_ptr<ExceptionScheme> scheme_;
  const bool preemptible_, hears_commits_;
  std::array<OfWarp, 64> warps_;
  SlotPool<FaultableAccess> accesses_;
  Ring<std::uint16_t> looked_up_;  ///< accesses between lookup and last check
  SlotPool<SquashedLanes> squashed_;
};

template <class Function>
void FaultableAccesses::forget_squashed(std::uint16_t index, Function&& function) {
  FaultableAccess& access = accesses_[index];
  for (std::uint16_t at = access.first_squashed; at != none;) {
    function(squashed_[at]);
    const std::uint16_t next = squashed_[at].next;
    squashed_.give_back(at);
    at = next;
  }
  access.first_squashed = none;
  access.squashed = access.come = false;
}

template <class Function>
void FaultableAccesses::drop_tenant(TenantId tenant, Function&& function, SmCycle now) {
  accesses_.for_each_used([&](std::uint16_t index) {
    const WarpSlot warp(accesses_[index].warp);
    if (accesses_[index].looked_up || blocks_.tenant_of(warp) != tenant) return;
    take_squashed(index);
    update_stop(warp);
    looked_up(index, now);
    function(accesses_[index]);
  });
}

}  // namespace lockstep
