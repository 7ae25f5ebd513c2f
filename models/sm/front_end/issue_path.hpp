/// What every instruction passes through between its issue and the next one of its warp, to be
/// inlined: results are marked as pending, commit, and let the warp's next instruction go.
/// Source: architecture.md, section 3 "sm"; hot-path.md ("wake-up by event").
#pragma once

#include "models/sm/sm_state.hpp"

namespace lockstep {

inline void SmState::commit_at(unsigned slot, const IssueRecord& record, std::int64_t when) {
  const auto commit = [&](std::uint16_t event) {
    warps[slot].pending.mark(event);
    wheel.add(when, WarpEvent::with_warp(event, slot));
  };
  if (record.releases == 0) return;
  commit(record.release[0]);
  if (record.releases > 1) [[unlikely]]
    for (unsigned i = 1; i < record.releases; ++i) commit(record.release[i]);
}

/// Asks for the rows that an instruction will use: they may be far away in this computer's caches.
inline void prefetch_operands(const Warp& warp, const IssueRecord& record) {
  for (const std::size_t row : record.touches) {
    __builtin_prefetch(warp.registers + row * isa::warp_size);
    __builtin_prefetch(warp.registers + row * isa::warp_size + isa::warp_size / 2);
  }
}

inline void SmState::evaluate(unsigned slot, std::int64_t now) {
  Warp& warp = warps[slot];
  if (!warp.paths.runnable()) [[unlikely]] {
    evaluate_halted(slot, now);
    return;
  }
  const IssueRecord& record = warp.records[warp.paths.pc()];
  const bool waits_for_results = warp.pending.meets(record.needs);
  if (waits_for_results && warp.pending.meets(warp.loads, record.needs)) [[unlikely]] {
    wait_for_memory(slot);
    return;
  }
  (waits_for_results ? waits(StallCause::dependency) : ready[record.unit]) |= bit(slot);
  prefetch_operands(warp, record);
}

inline void SmState::on_event(std::uint16_t event, std::int64_t now) {
  const unsigned slot = WarpEvent::warp(event);
  if (!WarpEvent::is_commit(event)) [[unlikely]] {
    end_wait(StallCause::control, slot, now);
    return;
  }
  Warp& warp = warps[slot];
  warp.pending.clear(event);
  warp.loads.clear(event);
  std::uint64_t& dependency = waits(StallCause::dependency);
  std::uint64_t& memory = waits(StallCause::memory);
  if (((dependency | memory) & bit(slot)) != 0) {
    const IssueRecord& record = warp.records[warp.paths.pc()];
    if (warp.pending.meets(record.needs)) return;
    ready[record.unit] |= bit(slot);
    if (memory & bit(slot)) prefetch_operands(warp, record);  // others have been asked for already
    dependency &= ~bit(slot);
    memory &= ~bit(slot);
  } else if (waits(StallCause::drain) & bit(slot)) [[unlikely]] {
    end_wait(StallCause::drain, slot, now);  // its last result
  }
}

inline void SmState::update_memory_gate(std::int64_t now) {
  const std::int64_t limit = parameters.memory_queue;
  const bool open = (queue_count < limit) & (shared_free - now < limit);
  memory_open = open ? ~std::uint64_t{0} : 0;
  gate_wake = gate_wake <= now ? no_cycle : gate_wake;
}

}  // namespace lockstep
