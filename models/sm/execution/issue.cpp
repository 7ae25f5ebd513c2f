/// Issue: a chosen warp's next instruction leaves the instruction buffer.
///
/// What only computes is executed at once; its destinations stay pending until it commits.
/// Source: architecture.md, section 3 "sm"; gpu-parameters.md, section 3 "Sub-core model".
#include "models/sm/front_end/issue_path.hpp"

namespace lockstep {

using isa::Category;
using isa::Instruction;

std::uint32_t SmState::guarded(const Warp& warp, const Instruction& instruction) const {
  std::uint32_t lanes = warp.paths.mask();
  if (instruction.guard != isa::no_predicate) {
    const std::uint32_t predicate = context_of(warp).predicates[instruction.guard];
    lanes &= instruction.guard_negated ? ~predicate : predicate;
  }
  return lanes;
}

void SmState::wait_for_memory(unsigned slot) {
  waits(StallCause::memory) |= bit(slot);
  std::visit([&](auto& s) { s.stalled(slot & (parameters.schedulers - 1), slot); }, scheduler);
}

void SmState::end_wait(StallCause cause, unsigned slot, std::int64_t now) {
  waits(cause) &= ~bit(slot);
  evaluate(slot, now);
}

void SmState::resume_at(unsigned slot, std::int64_t when) {
  waits(StallCause::control) |= bit(slot);
  wheel.add(when, WarpEvent::with_warp(WarpEvent::resume, slot));
}

void SmState::evaluate_halted(unsigned slot, std::int64_t now) {
  const Warp& warp = warps[slot];
  if (!warp.paths.finished()) {
    waits(StallCause::barrier) |= bit(slot);
  } else if (warp.pending.empty() && warp.flights == 0 && warp.stores == 0) {
    warp_drained(slot, now);
  } else {
    waits(StallCause::drain) |= bit(slot);
  }
  report_if_stuck(warp.block, now);
}

void SmState::issue(unsigned slot, std::int64_t now) {
  Warp& warp = warps[slot];
  GridSlot& grid = grids[warp.grid];
  ++grid.issue_slots;
  const std::uint32_t pc = warp.paths.pc();
  const Instruction& instruction = grid.instructions[pc];
  const IssueRecord& record = warp.records[pc];
  const std::uint32_t active = guarded(warp, instruction);

  if ((record.flags & IssueRecord::ordered_before) && !released(warp)) [[unlikely]] {
    ready[record.unit] &= ~bit(slot);
    wait_for_acknowledgements(slot);
    return;
  }
  ready[record.unit] &= ~bit(slot);
  const unsigned side = slot & (parameters.schedulers - 1);
  units.occupy(record.unit, side, now, record.interval, wheel);
  if (record.issue_slots > 1) [[unlikely]]
    units.occupy_scheduler(side, now, record.issue_slots, wheel);
  grid.warp_instructions += record.issue_slots;
  grid.thread_instructions += static_cast<std::uint64_t>(std::popcount(active));

  if (record.flags & IssueRecord::plain) [[likely]] {
    if (active != 0) {
      isa::WarpContext context = grid.context_of(warp.registers, scratch_rows);
      context.active = active;
      context.path = warp.paths.mask();
      if (record.flags & IssueRecord::reads_identity) [[unlikely]] {
        const isa::WarpIdentity identity = identity_of(warp, now);
        context.identity = &identity;
        instruction.execute(instruction, context);
      } else {
        instruction.execute(instruction, context);
      }
    }
    commit_at(slot, record, now + record.latency);
    warp.paths.advance();
    evaluate(slot, now);
    return;
  }
  if (record.flags & IssueRecord::shared_only) {
    if (active == ~std::uint32_t{0} && (record.flags & IssueRecord::word_load)) {
      load_shared_words(slot, instruction, record, now);
    } else if (active != 0) {
      issue_shared(slot, instruction, record, active, context_of(warp).row(instruction.source[0]),
                   instruction.offset, true, now);
    }
    warp.paths.advance();
    evaluate(slot, now);
    return;
  }
  switch (instruction.category) {
    case Category::load:
    case Category::store:
    case Category::atomic:
    case Category::prefetch:
      if (active != 0 && issue_memory(slot, instruction, record, active, now)) [[unlikely]] {
        waits(StallCause::control) |= bit(slot);  // an acquire: goes on when its value is there
        warp.paths.advance();
        return;
      }
      warp.paths.advance();
      evaluate(slot, now);
      return;
    case Category::arithmetic:
    case Category::shuffle_vote:
    case Category::warp_barrier:
      execute_together(slot, instruction, record, now);
      return;
    default:
      issue_control(slot, instruction, record, now);
  }
}

isa::WarpIdentity SmState::identity_of(const Warp& warp, std::int64_t now) const {
  const GridSlot& grid = grids[warp.grid];
  isa::WarpIdentity identity;
  identity.block_size = grid.launch.threads;
  identity.grid_size = grid.launch.blocks;
  identity.block_index = blocks[warp.block].coordinates;
  identity.warp_in_block = warp.warp_in_block;
  identity.sm = setup.index;
  identity.warp_slot = slot_of(warp);
  identity.sm_count = parameters.count;
  identity.warp_slots = parameters.warps;
  identity.grid_id = grid.launch.grid;
  identity.dynamic_shared_bytes = grid.launch.dynamic_shared_bytes;
  identity.static_shared_bytes = grid.program->static_shared_bytes;
  identity.clock_cycles = static_cast<std::uint64_t>(now);
  identity.global_time_ns = static_cast<std::uint64_t>(time_of(now).femtoseconds() / 1'000'000);
  return identity;
}

}  // namespace lockstep
