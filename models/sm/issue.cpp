/// Issue: a chosen warp's next instruction leaves the instruction buffer.
///
/// What only computes is executed at once; its destinations stay pending until it commits.
/// Source: architecture.md, section 3 "sm"; gpu-parameters.md, section 3 "Sub-core model".
#include "models/sm/sm_state.hpp"

namespace lockstep {

using isa::Category;
using isa::Instruction;

std::uint32_t SmState::guarded(const Warp& warp, const Instruction& instruction) const {
  std::uint32_t lanes = warp.paths.mask();
  if (instruction.guard != isa::no_predicate) {
    const std::uint32_t predicate = warp.context.predicates[instruction.guard];
    lanes &= instruction.guard_negated ? ~predicate : predicate;
  }
  return lanes;
}

void SmState::commit_at(Warp& warp, const IssueRecord& record, std::int64_t when) {
  const unsigned slot = slot_of(warp);
  for (unsigned i = 0; i < record.releases; ++i) {
    warp.pending.mark(record.release[i]);
    wheel.add(when, WarpEvent::with_warp(record.release[i], slot));
  }
}

void SmState::resume_at(unsigned slot, std::int64_t when) {
  waits(StallCause::control) |= bit(slot);
  wheel.add(when, WarpEvent::with_warp(WarpEvent::code(WarpEvent::resume, 0), slot));
}

void SmState::make_ready(Warp& warp, unsigned slot, const IssueRecord& record) {
  ready[record.unit] |= bit(slot);
  // It issues in a while: what its operands touch may be far away in the host's caches.
  const Instruction& instruction = warp.instructions[warp.paths.pc()];
  const auto prefetch = [&](isa::Operand operand, unsigned rows) {
    if (!operand.is_register()) return;
    const std::uint32_t* row = warp.context.row(operand);
    for (unsigned word = 0; word < rows * isa::warp_size; word += 16)
      __builtin_prefetch(row + word);
  };
  const bool pair =
      record.releases > 0 && WarpEvent::kind(record.release[0]) == WarpEvent::row_pair;
  prefetch(instruction.destination[0], pair ? 2 : 1);
  prefetch(instruction.source[0], 1);
  prefetch(instruction.source[1], 1);
}

void SmState::evaluate(unsigned slot, std::int64_t now) {
  Warp& warp = warps[slot];
  if (!warp.paths.runnable()) [[unlikely]] {
    if (!warp.paths.finished()) {
      waits(StallCause::barrier) |= bit(slot);
    } else if (warp.pending.empty() && warp.flights == 0 && warp.stores == 0) {
      warp_drained(slot, now);
    } else {
      waits(StallCause::drain) |= bit(slot);
    }
    return;
  }
  const IssueRecord& record = warp.records[warp.paths.pc()];
  if (!warp.pending.blocks(record)) {
    make_ready(warp, slot, record);
    return;
  }
  const auto& rows = warp.pending.rows;
  const bool memory =
      ((rows[0] & warp.loads[0] & record.rows[0]) | (rows[1] & warp.loads[1] & record.rows[1]) |
       (rows[2] & warp.loads[2] & record.rows[2]) | (rows[3] & warp.loads[3] & record.rows[3])) !=
      0;
  waits(memory ? StallCause::memory : StallCause::dependency) |= bit(slot);
  if (memory)
    std::visit([&](auto& s) { s.stalled(slot % parameters.schedulers, slot); }, scheduler);
}

void SmState::on_event(std::uint16_t event, std::int64_t now) {
  const unsigned slot = WarpEvent::warp(event);
  if (WarpEvent::kind(event) == WarpEvent::resume) {
    if (WarpEvent::index(event) == memory_gate_event) {
      update_memory_gate(now);
      return;
    }
    waits(StallCause::control) &= ~bit(slot);
    evaluate(slot, now);
    return;
  }
  Warp& warp = warps[slot];
  warp.pending.clear(event);
  if (WarpEvent::kind(event) != WarpEvent::predicate) {
    const std::uint64_t rows = WarpEvent::kind(event) == WarpEvent::row_pair ? 3 : 1;
    warp.loads[WarpEvent::index(event) / 64] &= ~(rows << (WarpEvent::index(event) % 64));
  }
  std::uint64_t& dependency = waits(StallCause::dependency);
  std::uint64_t& memory = waits(StallCause::memory);
  std::uint64_t& drain = waits(StallCause::drain);
  if (((dependency | memory | drain) & bit(slot)) == 0) return;
  if (drain & bit(slot)) {
    drain &= ~bit(slot);
    evaluate(slot, now);
  } else if (!warp.pending.blocks(warp.records[warp.paths.pc()])) {
    dependency &= ~bit(slot);
    memory &= ~bit(slot);
    make_ready(warp, slot, warp.records[warp.paths.pc()]);
  }
}

void SmState::issue(unsigned slot, std::int64_t now) {
  Warp& warp = warps[slot];
  const std::uint32_t pc = warp.paths.pc();
  const Instruction& instruction = warp.instructions[pc];
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
  if (record.issue_slots > 1 || parameters.issue_width > 1) [[unlikely]]
    units.occupy_scheduler(side, now, record.issue_slots, wheel);
  GridSlot& grid = grids[warp.grid];
  grid.warp_instructions += record.issue_slots;
  grid.thread_instructions += static_cast<std::uint64_t>(std::popcount(active));

  if (record.flags & IssueRecord::plain) [[likely]] {
    if (active != 0) {
      warp.context.active = active;
      warp.context.path = warp.paths.mask();
      if (record.flags & IssueRecord::reads_identity) [[unlikely]] {
        execute_with_identity(warp, instruction, now);
      } else {
        instruction.execute(instruction, warp.context);
      }
    }
    commit_at(warp, record, now + record.latency);
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

void SmState::execute_with_identity(Warp& warp, const Instruction& instruction, std::int64_t now) {
  const GridSlot& grid = grids[warp.grid];
  isa::WarpIdentity identity;
  identity.block_size = grid.launch.threads;
  identity.grid_size = grid.launch.blocks;
  identity.block_index = blocks[warp.block].coordinates;
  identity.warp_in_block = static_cast<std::uint32_t>(warp.warp_in_block);
  identity.sm = setup.index;
  identity.warp_slot = slot_of(warp);
  identity.sm_count = parameters.count;
  identity.warp_slots = parameters.warps;
  identity.grid_id = grid.launch.grid;
  identity.dynamic_shared_bytes = grid.launch.dynamic_shared_bytes;
  identity.static_shared_bytes = grid.program->static_shared_bytes;
  identity.clock_cycles = static_cast<std::uint64_t>(now);
  identity.global_time_ns = static_cast<std::uint64_t>(time_of(now).femtoseconds() / 1'000'000);
  warp.context.identity = &identity;
  instruction.execute(instruction, warp.context);
  warp.context.identity = nullptr;
}

}  // namespace lockstep
