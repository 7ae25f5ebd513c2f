#include "models/sm/front_end/front_end.hpp"

#include <variant>

#include "models/isa/text/absent_lanes.hpp"
#include "models/sm/front_end/issue_path.hpp"
namespace lockstep {

FrontEnd::Hot::Hot(const SmConstants& constants)
    : gate(constants.parameters.memory_queue),
      units(constants.parameters),
      scheduler(
          make_warp_scheduler(constants.setup.warp_scheduler, constants.parameters.schedulers)) {}

FrontEnd::FrontEnd(const SmContext& sm, DrainedWarps& drained_warps,
                   CheckedAccesses& checked_accesses, SuspendedWaits& suspended_waits)
    : constants_(sm.constants),
      statistics_(sm.statistics),
      blocks_(sm.blocks),
      mistakes_(sm.mistakes),
      drained_warps_(drained_warps),
      checked_accesses_(checked_accesses),
      suspended_waits_(suspended_waits),
      hot_(sm.constants),
      holds_(held_, sm.constants.parameters.warps) {}

void FrontEnd::add(WarpSlot slot, SmCycle when) {
  const unsigned scheduler = hot_.units.scheduler_of(slot.value());
  std::visit([&](auto& policy) { policy.added(scheduler, slot.value()); }, hot_.scheduler);
  resume_at(slot, when);
}

void FrontEnd::remove(WarpSlot slot) {
  const unsigned scheduler = hot_.units.scheduler_of(slot.value());
  std::visit([&](auto& policy) { policy.removed(scheduler, slot.value()); }, hot_.scheduler);
}

void FrontEnd::wait_for_memory(WarpSlot slot) {
  waits(StallCause::memory) |= bit_of(slot);
  const unsigned scheduler = hot_.units.scheduler_of(slot.value());
  std::visit([&](auto& policy) { policy.stalled(scheduler, slot.value()); }, hot_.scheduler);
}

void FrontEnd::end_wait(StallCause cause, WarpSlot slot, SmCycle now) {
  waits(cause) &= ~bit_of(slot);
  evaluate(slot, blocks_.warp(slot), now);
}

bool FrontEnd::unblock(Warp& warp, bool barriers_too, SmCycle now) {
  if (!warp.paths.unblock(blocks_.grid_of(warp).instructions, barriers_too)) return false;
  mistakes_.warn_of_absent(warp, now);
  return true;
}

void FrontEnd::evaluate_halted(WarpSlot slot, Warp& warp, SmCycle now) {
  if (unblock(warp, false, now)) return resume_at(slot, now + 1);
  const BlockPlace block(warp.block);
  const bool only_sent = constants_.parameters.stores_drain_with == StoresDrainWith::grid;
  const UnderWay& under_way = blocks_.under_way();
  const std::uint32_t awaited = only_sent ? under_way.unsent_stores(slot) : under_way.stores(slot);
  if (warp.paths.finished()) holds_.forget_point(slot);
  if (!warp.paths.finished()) {
    wait_for_others(slot, warp);
  } else if (warp.pending.empty() && under_way.flights(slot) == 0 && awaited == 0 &&
             (held_ & bit_of(slot)) == 0 && !holds_.has_accesses(slot) &&
             !stays_for_arrivals(slot)) {
    drained_warps_.drained(slot, now);
  } else {
    waits(StallCause::drain) |= bit_of(slot);
  }
  report_if_stuck(block, now);
}

/// A warp comes here once more after its block has been away.
void FrontEnd::wait_for_others(WarpSlot slot, const Warp& warp) {
  if (blocks_.block_of(warp).waits_for_phase(warp.warp_in_block)) return wait_for_phase(slot);
  bool at_cluster = false;
  warp.paths.for_each_waiting([&](std::uint32_t pc, std::uint32_t) {
    at_cluster |= blocks_.instruction(warp, pc).category == isa::Category::cluster_barrier;
  });
  at_cluster ? wait_for_cluster(slot) : wait_at_barrier(slot);
}

bool FrontEnd::stays_for_arrivals(WarpSlot slot) {
  if (!owes(slot)) return false;
  if (blocks_.block_of(blocks_.warp(slot)).alive_threads != 0) return true;
  suspended_waits_.forget(slot);
  set_owing(slot, false);
  return false;
}

void FrontEnd::on_other_event(std::uint16_t event, WarpSlot slot, SmCycle now) {
  switch (WarpEvent::place(event)) {
    case WarpEvent::fetch_on:
      holds_.resume_fetch(slot);
      return look_again(slot, now);
    case WarpEvent::code_came:
      return look_again(slot, now);
    case WarpEvent::operands_read:
      holds_.end_read(slot);
      return look_again(slot, now);
    case WarpEvent::committed:
      return checked_accesses_.committed(slot, now);
    case WarpEvent::last_check:
      return checked_accesses_.last_check(slot, now);
    case WarpEvent::copies_came:
      if (owes(slot)) suspended_waits_.copies_came(slot, now);
      if ((waiting(StallCause::async_copy) & bit_of(slot)) != 0)
        end_wait(StallCause::async_copy, slot, now);
      return;
    case WarpEvent::product_done:
      if (blocks_.under_way().flight_ends(slot)) request_answered(slot, now);
      if ((waiting(StallCause::wgmma) & bit_of(slot)) != 0) end_wait(StallCause::wgmma, slot, now);
      return;
    case WarpEvent::wait_limit:
      return suspended_waits_.limit_came(slot, now);
    case WarpEvent::resume:
      if (sleeping_.wake(slot, now)) end_wait(StallCause::control, slot, now);
      return;
    default:
      if (WarpEvent::place(event) < WarpEvent::group)  // the slot is the number of a scheduler
        return hot_.units.release(WarpEvent::place(event) - WarpEvent::unit_free,
                                  static_cast<std::uint8_t>(1u << slot.value()));
      Warp& warp = blocks_.warp(slot);
      warp.pending.clear(groups_.end(WarpEvent::place(event)));
      return result_came(slot, warp, now);
  }
}

void FrontEnd::commit_further_at(WarpSlot slot, Warp& warp, const IssueRecord& record,
                                 SmCycle when) {
  if (record.releases == IssueRecord::grouped) return commit_group_at(slot, warp, record, when);
  for (unsigned i = 1; i < record.releases; ++i) commit_one_at(slot, warp, record.release[i], when);
}

void FrontEnd::commit_group_at(WarpSlot slot, Warp& warp, const IssueRecord& record, SmCycle when) {
  const Scoreboard& group = blocks_.grid_of(warp).issue->release_groups[record.release[1]];
  warp.pending.mark(group);
  if (const auto event = groups_.begin(group)) return tell_at(slot, *event, when);
  for_each_place(group, [&](std::uint16_t event) { tell_at(slot, event, when); });
}

void FrontEnd::look_again(WarpSlot slot, SmCycle now) {
  if (leave_waits(slot)) evaluate(slot, blocks_.warp(slot), now);
}

void FrontEnd::stop(WarpSlot slot) {
  holds_.stop(slot);
  wait_for_fault(slot);
}

void FrontEnd::begin_again(WarpSlot slot, SmCycle now) {
  if (holds_.frozen(slot)) return;
  waits(StallCause::fault) &= ~bit_of(slot);
  make_ready(slot, memory_unit);
  wake_at(now);
}

void FrontEnd::issued_again(WarpSlot slot, bool more, SmCycle now) {
  waits(StallCause::fault) &= ~bit_of(slot);
  if (more) {
    make_ready(slot, memory_unit);
    return;
  }
  const std::uint64_t elsewhere = waiting(StallCause::control) | waiting_at_barriers();
  if ((elsewhere & bit_of(slot)) == 0) evaluate(slot, blocks_.warp(slot), now);
}

bool FrontEnd::hold_back(WarpSlot slot, const Warp& warp, const IssueRecord& record) {
  if (holds_.freezes_at_point(slot) && blocks_.at_preemption_point(warp)) holds_.freeze(slot);
  if (holds_.frozen(slot)) {
    waits(StallCause::fault) |= bit_of(slot);
    return true;
  }
  if (holds_.stopped(slot)) {
    if ((ready(memory_unit) & bit_of(slot)) == 0) waits(StallCause::fault) |= bit_of(slot);
    return true;
  }
  if (holds_.fetch_is_off(slot)) {
    waits(StallCause::fetch) |= bit_of(slot);
    return true;
  }
  if (warp.pending.meets(record.needs)) return false;
  const auto conflict =
      holds_.source_conflict(slot, blocks_.grid_of(warp).issue->written_by(record));
  if (conflict) waits(*conflict) |= bit_of(slot);
  return conflict.has_value();
}

/// Arrivals and bytes of what is under way complete phases, and so do other blocks of a cluster.
bool FrontEnd::others_complete_phases(const BlockSlot& block) const {
  if ((owing_ & block.warps) != 0) return true;
  if (blocks_.grid(block.grid).launch.cluster_blocks() > 1) return true;
  bool any = false;
  for_each_warp(block.warps, [&](WarpSlot slot) { any |= blocks_.under_way().flights(slot) != 0; });
  return any;
}

void FrontEnd::report_if_stuck(BlockPlace place, SmCycle now) {
  const BlockSlot& block = blocks_.block(place);
  const std::uint64_t standing = block.warps & waiting_at_barriers();
  if (!block.used || standing == 0) return;
  bool others = false;
  for_each_warp(block.warps & ~standing,
                [&](WarpSlot slot) { others |= !blocks_.warp(slot).paths.finished(); });
  const bool some_wait_for_phases = !block.phase_waits.empty();
  if (others || (some_wait_for_phases && others_complete_phases(block))) return;
  // Other blocks of the cluster may release these warps.
  if ((at_cluster_barrier_ & standing) != 0) return;
  for (std::uint64_t left = standing; left != 0; left &= left - 1) {
    const WarpSlot slot = first_of(left);
    if (!unblock(blocks_.warp(slot), true, now)) continue;
    return release_from_barrier(slot, now + constants_.parameters.barrier_latency.count());
  }
  if (some_wait_for_phases) return;  // each path waits for a limited time
  const Warp& warp = blocks_.warp(first_of(standing));
  if (const auto incomplete = warp.paths.first_incomplete(); incomplete) {
    return mistakes_.report(TenantId(warp.tenant),
                            mistakes_.by(warp, incomplete->pc, incomplete->waiting,
                                         isa::never_met_text(*incomplete), isa::never_met_advice),
                            now);
  }
  const isa::WarpPaths::Arm path = warp.paths.first_waiting();
  mistakes_.report(
      TenantId(warp.tenant),
      mistakes_.by(warp, path.pc, static_cast<unsigned>(std::countr_zero(path.lanes)),
                   "waits at a barrier for ever: all other threads of the block have ended or "
                   "wait, too",
                   "let as many threads come to the same barrier as it waits for"),
      now);
}

void FrontEnd::halt(WarpSlot slot, const Mistake& mistake, SmCycle now) {
  wait_at_barrier(slot);  // the warp stays: no barrier releases it
  mistakes_.report(blocks_.tenant_of(slot), mistake, now);
}

std::string FrontEnd::waiting_for() const {
  std::string text;
  for (const StallCauseFacts& facts : stall_cause_facts) {
    const int count = std::popcount(waiting(facts.cause));
    if (count == 0) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " warps wait for " + facts.awaited;
  }
  return text;
}

void FrontEnd::warm_hot() const {
  const auto* begin = reinterpret_cast<const std::byte*>(this);
  const auto* end = static_cast<const std::byte*>(hot_.wheel.seldom_used());
  warm(begin, static_cast<std::size_t>(end - begin));
}

void FrontEnd::serialize(Archive& archive) {
  archive.section("sm/front_end", 10);
  serialize_states(archive);
  archive(hot_.cycle, hot_.wake, hot_.accounted, hot_.gate, hot_.units, hot_.wheel, holds_,
          sleeping_, groups_, owing_, at_cluster_barrier_);
  std::visit([&](auto& policy) { policy.serialize(archive); }, hot_.scheduler);
}

}  // namespace lockstep
