/// The front end: it knows which warps can issue and what the others wait for, and picks the warp
/// that issues next.
///
/// A warp's next instruction is always in its instruction buffer.  The warp is ready when none of
/// the registers and predicates that the instruction reads or writes is pending; masks then tell
/// which warps could issue now.  Events at known cycles (a result commits, a branch is done) make a
/// warp ready, so that a waiting warp costs nothing.  Code that issues or evaluates includes
/// issue_path.hpp.
/// Source: architecture.md, section 3 "sm"; hot-path.md ("wake-up by event"); gpu-parameters.md,
/// section 3 "Sub-core model".
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string>

#include "core/checkpoint/archive.hpp"
#include "core/memory/warm.hpp"
#include "models/sm/blocks/mistakes.hpp"
#include "models/sm/blocks/resident_blocks.hpp"
#include "models/sm/front_end/checked_accesses.hpp"
#include "models/sm/front_end/drained_warps.hpp"
#include "models/sm/front_end/event_wheel.hpp"
#include "models/sm/front_end/execution_units.hpp"
#include "models/sm/front_end/held_warps.hpp"
#include "models/sm/front_end/memory_gate.hpp"
#include "models/sm/front_end/release_groups.hpp"
#include "models/sm/front_end/sleeping_warps.hpp"
#include "models/sm/front_end/suspended_waits.hpp"
#include "models/sm/front_end/warp_states.hpp"
#include "models/sm/parameters/sm_context.hpp"
#include "models/sm/warp_scheduler/warp_scheduler.hpp"

namespace lockstep {

class FrontEnd : public WarpStates {
 public:
  FrontEnd(const SmContext& sm, DrainedWarps& drained_warps, CheckedAccesses& checked_accesses,
           SuspendedWaits& suspended_waits);

  // Events of warps.
  /// Adds a warp that has come into its slot and issues from `when` on.
  void add(WarpSlot slot, SmCycle when);
  /// The warp's next instruction becomes ready or waits.
  void evaluate(WarpSlot slot, Warp& warp, SmCycle now);
  /// Notes that the warp has issued, and the units and rows that the instruction occupies.
  void issued(WarpSlot slot, const IssueRecord& record, SmCycle now);
  /// Sets the scoreboard bits of an instruction's destinations; each is cleared at `when`.
  void commit_at(WarpSlot slot, Warp& warp, const IssueRecord& record, SmCycle when);
  void resumed_at(WarpSlot slot, SmCycle when) {
    hot_.wheel.add(when, WarpEvent::with_warp(WarpEvent::resume, slot.value()));
  }
  void resume_at(WarpSlot slot, SmCycle when) {
    suspend(slot);
    resumed_at(slot, when);
  }
  void release_from_barrier(WarpSlot slot, SmCycle when) {
    waits(StallCause::barrier) &= ~bit_of(slot);
    waits(StallCause::mbarrier) &= ~bit_of(slot);
    waits(StallCause::cluster) &= ~bit_of(slot);
    resume_at(slot, when);
  }
  void end_wait(StallCause cause, WarpSlot slot, SmCycle now);
  /// A warp without anything outstanding leaves, if its threads have ended.
  void request_answered(WarpSlot slot, SmCycle now) {
    if ((waiting(StallCause::drain) & bit_of(slot)) != 0) [[unlikely]]
      end_wait(StallCause::drain, slot, now);
  }
  /// Evaluates the warp again if it waits for a cause that HeldWarps controls, because one of them
  /// is over.
  void look_again(WarpSlot slot, SmCycle now);
  /// Stops the warp after a fault: it does not issue its next instruction.
  void stop(WarpSlot slot);
  /// Makes a squashed instruction the warp's next one, whatever else the warp waits for.
  void begin_again(WarpSlot slot, SmCycle now);
  /// The warp has re-issued a squashed instruction. `more`: it has further ones to re-issue.
  void issued_again(WarpSlot slot, bool more, SmCycle now);
  /// Returns the warps that are held back for other reasons than the scoreboard.
  HeldWarps& held() { return holds_; }
  /// Adds an event of the warp at `when`: a pending result can be used from then on, or an event of
  /// WarpEvent (fetch_on and later) happens.
  [[gnu::always_inline]] void tell_at(WarpSlot slot, std::uint16_t what, SmCycle when) {
    hot_.wheel.add(when, WarpEvent::with_warp(what, slot.value()));
  }
  /// Reports a mistake of the tenant if all threads of the block that have not ended wait at
  /// barriers that only they could complete.
  void report_if_stuck(BlockPlace place, SmCycle now);
  void remove(WarpSlot slot);
  /// Marks a warp that owes arrivals behind its copies, so that it stays until they are done.
  void set_owing(WarpSlot slot, bool owes) {
    owing_ = (owing_ & ~bit_of(slot)) | (std::uint64_t{owes} << slot.value());
  }
  bool owes(WarpSlot slot) const { return (owing_ & bit_of(slot)) != 0; }
  /// Notes that a path of the warp waits for other blocks of its cluster.
  void waits_for_cluster(WarpSlot slot) { at_cluster_barrier_ |= bit_of(slot); }
  /// Ends these warps' waits for their clusters.
  void end_waits_for_cluster(std::uint64_t warps) { at_cluster_barrier_ &= ~warps; }
  SleepingWarps& sleeping() { return sleeping_; }

  /// Begins a cycle: commits its results and makes warps ready.
  void begin_cycle(SmCycle now);
  /// Lets each scheduler issue what it can, by calling issue(slot). `policy`: the policy that
  /// scheduler() holds. Returns false if no scheduler issued.
  template <class Policy, class Issue>
  bool issue_cycle(Policy& policy, SmCycle now, Issue&& issue);
  /// Returns the policy that chooses among warps that could issue.
  WarpScheduler& scheduler() { return hot_.scheduler; }
  MemoryGate& memory_gate() { return hot_.gate; }

  // Time of the next activity.
  SmCycle wake() const { return hot_.wake; }
  void wake_at(SmCycle cycle) { hot_.wake = std::min(hot_.wake, cycle); }
  void sleep_until(SmCycle cycle) { hot_.wake = cycle; }
  /// Returns the next cycle in which something happens here if no warp can issue.
  SmCycle next_event() const { return std::min(hot_.wheel.next(), hot_.gate.wake()); }
  /// Returns the next cycle in which a unit becomes free for a ready warp, if none can issue now.
  SmCycle next_free_unit() const {
    if (ready_warps() == 0) return no_cycle;
    auto ready = ready_by_unit();
    if (hot_.gate.open() == 0) ready[memory_unit] = 0;
    return hot_.units.next_use(ready, hot_.cycle);
  }
  /// Advances to `cycle`, before which nothing happens.
  void advance_to(SmCycle cycle) { hot_.wheel.advance_to(cycle); }

  /// Counts stalls of the cycles before `up_to`.
  void account_stalls(SmCycle up_to) {
    if (up_to - 1 > hot_.accounted) account_skipped(up_to);
  }
  /// Counts stalls of a cycle in which the host holds issue; the cycle counts as skipped.
  void account_held_cycle(SmCycle now);

  std::string waiting_for() const;
  void warm_hot() const;
  void serialize(Archive& archive);

 private:
  /// Members that every window touches.
  struct Hot {
    explicit Hot(const SmConstants& constants);

    SmCycle cycle{-1};        ///< last simulated cycle
    SmCycle wake = no_cycle;  ///< next cycle with something to do
    SmCycle accounted{-1};    ///< cycle up to which stalls are counted
    MemoryGate gate;
    ExecutionUnits units;
    WarpScheduler scheduler;
    EventWheel wheel;  ///< events; the wheel stands last because its end is rarely used
  };

  void on_event(std::uint16_t event, SmCycle now);
  void on_other_event(std::uint16_t event, WarpSlot slot, SmCycle now);
  /// Updates the warp after some of its pending results have come.
  void result_came(WarpSlot slot, const Warp& warp, SmCycle now);
  /// Does what commit_at() does for one destination.
  [[gnu::always_inline]] void commit_one_at(WarpSlot slot, Warp& warp, std::uint16_t release,
                                            SmCycle when) {
    warp.pending.mark(release);
    tell_at(slot, release, when);
  }
  /// Does for all destinations but the first what commit_at() does.
  [[gnu::noinline]] void commit_further_at(WarpSlot slot, Warp& warp, const IssueRecord& record,
                                           SmCycle when);
  /// Lets all destinations of an instruction with many of them commit by one event.
  void commit_group_at(WarpSlot slot, Warp& warp, const IssueRecord& record, SmCycle when);
  /// Returns whether the warp waits for something beyond its operands, or re-issues a squashed
  /// instruction.
  bool hold_back(WarpSlot slot, const Warp& warp, const IssueRecord& record);
  void wait_for_memory(WarpSlot slot);
  /// Returns whether the finished warp stays, because it still owes arrivals.
  bool stays_for_arrivals(WarpSlot slot);
  /// Decides the cause for which a warp without a runnable path waits.
  void evaluate_halted(WarpSlot slot, Warp& warp, SmCycle now);
  /// Lets a warp without a runnable path wait until other warps come.
  void wait_for_others(WarpSlot slot, const Warp& warp);
  /// Returns whether phases that the block waits for may complete though all its warps wait.
  bool others_complete_phases(const BlockSlot& block) const;
  /// Calls WarpPaths::unblock, and warns if lanes go on without others.
  bool unblock(Warp& warp, bool barriers_too, SmCycle now);
  /// Returns the warps whose next instruction could issue now.
  std::uint64_t issuable() const;
  /// Halts the warp until its tenant is ended.
  void halt(WarpSlot slot, const Mistake& mistake, SmCycle now);
  /// Counts the cycles in which these schedulers issued nothing.
  void count_stalled(unsigned schedulers, std::uint64_t cycles);
  template <class Charges>
  void charge_stalled(unsigned schedulers, const Charges& charges);
  void account_skipped(SmCycle up_to);
  void count_stalled_of_grids(unsigned schedulers, std::uint64_t cycles);

  const SmConstants& constants_;
  SmStatistics& statistics_;
  ResidentBlocks& blocks_;
  Mistakes& mistakes_;
  DrainedWarps& drained_warps_;
  CheckedAccesses& checked_accesses_;
  SuspendedWaits& suspended_waits_;
  Hot hot_;
  HeldWarps holds_;
  SleepingWarps sleeping_;
  ReleaseGroups groups_;
  std::uint64_t owing_ = 0;
  std::uint64_t at_cluster_barrier_ = 0;
};

}  // namespace lockstep
