#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "core/checkpoint/archive.hpp"
#include "models/sm/blocks/warp_set.hpp"
#include "models/sm/parameters/stall_cause.hpp"
#include "models/sm/tables/issue_tables.hpp"

namespace lockstep {

/// State of each resident warp, as masks over warp slots: either the warp's next instruction is
/// ready for a class of units, or the warp waits for one cause.
class WarpStates {
 public:
  /// Returns the warps that wait for `cause`.
  std::uint64_t waiting(StallCause cause) const {
    return waiting_[static_cast<std::size_t>(cause)];
  }
  /// Lets the warp wait until it is resumed.
  void suspend(WarpSlot slot) { waits(StallCause::control) |= bit_of(slot); }
  /// Lets the warp wait at a barrier. None of its paths can run until the warp is released.
  void wait_at_barrier(WarpSlot slot) { waits(StallCause::barrier) |= bit_of(slot); }
  /// Lets the warp wait as wait_at_barrier does, with at least one path at a phase of an mbarrier.
  void wait_for_phase(WarpSlot slot) { waits(StallCause::mbarrier) |= bit_of(slot); }
  /// Lets the warp wait as wait_at_barrier does, with at least one path for threads of other blocks
  /// of its cluster.
  void wait_for_cluster(WarpSlot slot) { waits(StallCause::cluster) |= bit_of(slot); }
  /// Returns the warps that wait for other warps, at any kind of barrier.
  std::uint64_t waiting_at_barriers() const {
    return waiting(StallCause::barrier) | waiting(StallCause::mbarrier) |
           waiting(StallCause::cluster);
  }
  /// Lets the warp wait for `cause`, which holds back the instruction that was chosen.
  void refuse(WarpSlot slot, const IssueRecord& record, StallCause cause) {
    end_ready(slot, record.unit);
    waits(cause) |= bit_of(slot);
  }
  /// Lets the warp wait for a fault, without issuing its next instruction.
  void wait_for_fault(WarpSlot slot) {
    const bool was_ready = leave_ready(slot);
    const bool waited = (waiting(StallCause::memory) & bit_of(slot)) != 0;
    waits(StallCause::memory) &= ~bit_of(slot);
    if (leave_waits(slot) || waited || was_ready) waits(StallCause::fault) |= bit_of(slot);
  }
  std::uint64_t ready_warps() const { return any_ready_; }
  /// Returns the warps that are ready or wait.
  std::uint64_t known() const {
    std::uint64_t all = ready_warps();
    for (const std::uint64_t of_cause : waiting_) all |= of_cause;
    return all;
  }
  /// Marks the warps as neither ready nor waiting.
  void call_off(std::uint64_t warps) {
    call_off_issue(warps);
    for (std::uint64_t& of_cause : waiting_) of_cause &= ~warps;
  }
  /// Marks the warps as not ready. A warp that is to re-issue a squashed instruction may also wait.
  void call_off_issue(std::uint64_t warps) {
    for (std::uint64_t& of_unit : ready_) of_unit &= ~warps;
    any_ready_ &= ~warps;
  }

 protected:
  static constexpr auto memory_unit = static_cast<std::size_t>(isa::Unit::memory);

  /// Returns the warps that are ready for a class of units.
  std::uint64_t ready(std::size_t unit) const { return ready_[unit]; }
  const std::array<std::uint64_t, unit_classes>& ready_by_unit() const { return ready_; }
  void make_ready(WarpSlot slot, std::size_t unit) {
    ready_[unit] |= bit_of(slot);
    any_ready_ |= bit_of(slot);
  }
  void end_ready(WarpSlot slot, std::size_t unit) {
    ready_[unit] &= ~bit_of(slot);
    any_ready_ &= ~bit_of(slot);
  }
  std::uint64_t& waits(StallCause cause) { return waiting_[static_cast<std::size_t>(cause)]; }
  /// Ends the warp's waits for the causes that HeldWarps controls. Returns whether the warp waited
  /// for one.
  bool leave_waits(WarpSlot slot) {
    std::uint64_t waiting_for_any = 0;
    for (const StallCause cause : holding_causes) waiting_for_any |= waiting(cause);
    if ((waiting_for_any & bit_of(slot)) == 0) return false;
    for (const StallCause cause : holding_causes) waits(cause) &= ~bit_of(slot);
    return true;
  }
  /// Marks the warp as not ready.  Returns whether it was ready.
  bool leave_ready(WarpSlot slot) {
    const bool was_ready = (ready_warps() & bit_of(slot)) != 0;
    call_off_issue(bit_of(slot));
    return was_ready;
  }
  void serialize_states(Archive& archive) {
    archive(ready_, waiting_, held_);
    any_ready_ = 0;
    for (const std::uint64_t of_unit : ready_) any_ready_ |= of_unit;
  }

  std::uint64_t held_ = 0;  ///< warps held by HeldWarps

 private:
  static constexpr std::array holding_causes{
      StallCause::log_full,    StallCause::queue_full, StallCause::dependency,
      StallCause::late_source, StallCause::fetch,      StallCause::last_check,
      StallCause::async_copy,  StallCause::wgmma,      StallCause::registers,
      StallCause::fault,       StallCause::drain};

  /// Warps, by the unit of their next instruction; a warp is in one of them at most.
  std::array<std::uint64_t, unit_classes> ready_{};
  /// Waiting warps, by the cause of their wait.
  std::array<std::uint64_t, stall_causes> waiting_{};
  std::uint64_t any_ready_ = 0;  ///< warps of ready_
};

}  // namespace lockstep
