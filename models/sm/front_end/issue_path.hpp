/// Path of every instruction from its issue to the next instruction of its warp, inlined: results
/// are marked as pending, commit, and release the warp's next instruction.
/// Source: architecture.md, section 3 "sm"; hot-path.md ("wake-up by event").
#pragma once

#include "core/memory/kept.hpp"
#include "models/sm/front_end/front_end.hpp"

namespace lockstep {

[[gnu::always_inline]] inline void FrontEnd::issued(WarpSlot slot, const IssueRecord& record,
                                                    SmCycle now) {
  const unsigned unit = record.unit, interval = record.interval, slots = record.issue_slots;
  end_ready(slot, unit);
  const unsigned scheduler = hot_.units.scheduler_of(slot.value());
  hot_.units.occupy(unit, scheduler, now, interval, hot_.wheel);
  if (slots > 1) [[unlikely]]
    hot_.units.occupy_scheduler(scheduler, now, slots, hot_.wheel);
}

[[gnu::always_inline]] inline void FrontEnd::commit_at(WarpSlot slot, Warp& warp,
                                                       const IssueRecord& record, SmCycle when) {
  if (record.releases == 0) return;
  commit_one_at(slot, warp, record.release[0], when);
  if (record.releases > 1) [[unlikely]]
    commit_further_at(slot, warp, record, when);
}

/// Asks for the rows that an instruction will use: they may be far away in this computer's caches.
inline void prefetch_operands(const Warp& warp, const IssueRecord& record) {
  for (const std::size_t row : record.touches) {
    __builtin_prefetch(warp.registers + row * isa::warp_size);
    __builtin_prefetch(warp.registers + row * isa::warp_size + isa::warp_size / 2);
  }
}

[[gnu::always_inline]] inline void FrontEnd::evaluate(WarpSlot slot, Warp& warp, SmCycle now) {
  if (!warp.paths.runnable()) [[unlikely]] {
    evaluate_halted(slot, warp, now);
    return;
  }
  const IssueRecord& record = warp.records[warp.paths.pc()];
  if ((held_ & bit_of(slot)) != 0 && hold_back(slot, warp, record)) [[unlikely]]
    return;
  const bool waits_for_results = warp.pending.meets(record.needs);
  if (waits_for_results && warp.pending.meets(warp.loads, record.needs)) [[unlikely]] {
    wait_for_memory(slot);
    return;
  }
  if (waits_for_results)
    waits(StallCause::dependency) |= bit_of(slot);
  else
    make_ready(slot, record.unit);
  prefetch_operands(warp, record);
}

[[gnu::always_inline]] inline void FrontEnd::on_event(std::uint16_t event, SmCycle now) {
  const WarpSlot slot(static_cast<std::uint16_t>(WarpEvent::warp(event)));
  if (!WarpEvent::is_commit(event)) [[unlikely]] {
    on_other_event(event, slot, now);
    return;
  }
  Warp& warp = kept(blocks_.warp(slot));
  warp.pending.clear(event);
  warp.loads.clear(event);
  result_came(slot, warp, now);
}

[[gnu::always_inline]] inline void FrontEnd::result_came(WarpSlot slot, const Warp& warp,
                                                         SmCycle now) {
  std::uint64_t& dependency = waits(StallCause::dependency);
  std::uint64_t& memory = waits(StallCause::memory);
  const std::uint64_t bit = bit_of(slot);
  if (((dependency | memory) & bit) != 0) {
    const IssueRecord& record = warp.records[warp.paths.pc()];
    if (warp.pending.meets(record.needs)) return;
    if ((held_ & bit) != 0) [[unlikely]] {
      memory &= ~bit;
      return end_wait(StallCause::dependency, slot, now);
    }
    make_ready(slot, record.unit);
    // Operands of warps that did not wait for memory have been fetched already.
    if (memory & bit) prefetch_operands(warp, record);
    dependency &= ~bit;
    memory &= ~bit;
  } else if (waits(StallCause::drain) & bit) [[unlikely]] {
    end_wait(StallCause::drain, slot, now);  // the last result has come
  }
}

inline void FrontEnd::begin_cycle(SmCycle now) {
  account_stalls(now);
  hot_.units.begin_cycle(hot_.cycle, now);
  hot_.cycle = now;
  hot_.wheel.take(
      now, [&](std::uint16_t event) { on_event(event, now); },
      [&](const FreedUnits& freed) { hot_.units.release(freed); });
  if (hot_.gate.wake() <= now) hot_.gate.update(now);
}

[[gnu::always_inline]] inline std::uint64_t FrontEnd::issuable() const {
  if (ready_warps() == 0) return 0;
  std::uint64_t warps = hot_.units.could_use(ready_by_unit(), hot_.cycle);
  if (hot_.gate.open() == 0) warps &= ~ready(memory_unit);
  return warps & hot_.units.schedulers_free();
}

}  // namespace lockstep
