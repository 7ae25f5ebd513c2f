#include "models/sm/execution/mbarriers.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/error/error.hpp"
#include "models/isa/barriers/mbarrier.hpp"
#include "models/isa/lane_mask.hpp"
#include "models/sm/access/lane_data.hpp"
#include "models/sm/front_end/issue_path.hpp"

namespace lockstep {

using isa::AtomicOperation;
using isa::for_each_lane;
using isa::Instruction;
using isa::InstructionMistake;
using isa::MbarrierWord;

WarpSlot Mbarriers::slot_of(const BlockSlot& block, std::uint8_t warp_in_block) const {
  for (std::uint64_t left = block.warps; left != 0; left &= left - 1)
    if (blocks_.warp(first_of(left)).warp_in_block == warp_in_block) return first_of(left);
  internal_error(__FILE__, __LINE__, "mbarrier", "a warp waits that is not of the block");
}

std::uint64_t Mbarriers::word_at(const BlockSlot& block, std::uint64_t offset) const {
  std::uint64_t word = 0;
  std::memcpy(&word, blocks_.shared_memory_of(block) + offset, MbarrierWord::bytes);
  return word;
}

bool Mbarriers::step(const BlockSlot& block, std::uint64_t offset, AtomicOperation operation,
                     std::uint64_t count) {
  const std::uint64_t before = word_at(block, offset);
  const std::uint64_t after = isa::mbarrier_step(operation, before, count);
  std::memcpy(blocks_.shared_memory_of(block) + offset, &after, MbarrierWord::bytes);
  return MbarrierWord::parity(after) != MbarrierWord::parity(before);
}

void Mbarriers::change(WarpSlot slot, const Instruction& instruction, std::uint32_t active,
                       std::byte* first, const LanePattern& pattern, SmCycle now) {
  const Warp& warp = blocks_.warp(slot);
  const BlockSlot& block = blocks_.block_of(warp);
  const isa::WarpContext context = blocks_.context_of(warp);
  const isa::MemoryFields& memory = instruction.memory;
  const std::uint32_t* counts = context.row(instruction.source[1]);
  Owed owed{0, warp.paths.pc(), active, {}};
  bool completes = false;
  for_each_lane(active, [&](unsigned lane) {
    std::byte* at = first + static_cast<std::int32_t>(pattern.relative[lane]);
    const auto offset = static_cast<std::uint64_t>(at - blocks_.shared_memory_of(block));
    std::uint64_t count = 0;
    std::memcpy(&count, counts + 2 * lane, sizeof count);
    const std::uint64_t before = word_at(block, offset);
    if (const InstructionMistake mistake =
            isa::mbarrier_mistake(memory.atomic, before, count, offset)) [[unlikely]]
      mistakes_.user_error(warp, owed.pc, lane, mistake.what, mistake.advice);
    completes |= step(block, offset, memory.atomic, count);
    owed.address[lane] = static_cast<std::uint32_t>(offset);
    if (memory.returns)
      std::memcpy(context.row(instruction.destination[0]) + 2 * lane, &before, sizeof before);
  });
  // Stores are ordered at every arrival, the last or not: too much order only makes a release wait.
  blocks_.under_way().order_stores(BlockPlace(warp.block));
  if (isa::is_behind_copies(memory.atomic)) owe(slot, owed, now);
  if (completes) wake(BlockPlace(warp.block), now);
}

std::uint32_t Mbarriers::lanes_with_phase_over(const Warp& warp, const Instruction& instruction,
                                               std::uint32_t lanes, bool checks) const {
  const BlockSlot& block = blocks_.block_of(warp);
  const isa::WarpContext context = blocks_.context_of(warp);
  const isa::Space space = instruction.memory.space;
  const std::uint32_t* parity = context.row(instruction.source[1]);
  LaneAddresses address;
  lane_addresses(instruction, context, lanes, address);
  std::uint32_t complete = 0;
  for_each_lane(lanes, [&](unsigned lane) {
    const auto require = [&](const InstructionMistake& mistake) {
      if (mistake && checks) [[unlikely]]
        mistakes_.user_error(warp, warp.paths.pc(), lane, mistake.what, mistake.advice);
      return !mistake;
    };
    if (!require(isa::place_mistake(space, address[lane], block.shared_bytes))) return;
    const std::uint64_t offset = isa::mbarrier_offset(space, address[lane]);
    const std::uint64_t word = word_at(block, offset);
    const bool is_over =
        require(isa::wait_mistake(word, offset)) && MbarrierWord::is_complete(word, parity[lane]);
    complete |= std::uint32_t{is_over} << lane;
  });
  return complete;
}

SmCycle Mbarriers::limit_of(const Warp& warp, const Instruction& instruction, std::uint32_t active,
                            SmCycle now) const {
  if (!instruction.source[2].valid())
    return now + constants_.parameters.mbarrier_time_limit.count();
  const std::uint32_t* row = blocks_.row_of(warp, instruction.source[2]);
  std::uint32_t nanoseconds = 0;
  for_each_lane(active, [&](unsigned lane) { nanoseconds = std::max(nanoseconds, row[lane]); });
  const Time limit{std::int64_t{nanoseconds} * 1'000'000};
  return now + std::max<std::int64_t>(1, constants_.clock.cycle_at_or_after(limit).count());
}

SmCycle Mbarriers::serve(const Warp& warp, const Instruction& instruction, std::uint32_t active,
                         SmCycle now) {
  LaneAddresses wide;
  lane_addresses(instruction, blocks_.context_of(warp), active, wide);
  std::array<std::uint32_t, 32> address;
  std::ranges::transform(wide, address.begin(),
                         [](std::uint64_t a) { return static_cast<std::uint32_t>(a); });
  const std::uint64_t key =
      LanePattern::key_of(active, MbarrierWord::bytes, constants_.parameters.shared.banks, false);
  const auto base = address[static_cast<unsigned>(std::countr_zero(active))];
  const unsigned degree = pattern_of(instruction, key, address.data(), base).degree;
  ++statistics_.tenant[warp.tenant].shared_accesses;
  statistics_.tenant[warp.tenant].shared_conflict_cycles += degree - 1;
  return front_end_.memory_gate().serve_banks(degree, now);
}

void Mbarriers::wait(WarpSlot slot, const Instruction& instruction, const IssueRecord& record,
                     std::uint32_t active, SmCycle now) {
  Warp& warp = blocks_.warp(slot);
  const auto go_on = [&] {
    warp.paths.advance();
    front_end_.evaluate(slot, warp, now);
  };
  if (active == 0) return go_on();
  const std::uint32_t complete = lanes_with_phase_over(warp, instruction, active, true);
  const SmCycle free = serve(warp, instruction, active, now);
  const auto mode = static_cast<isa::PhaseWaitMode>(instruction.detail);
  if (complete != 0 || mode == isa::PhaseWaitMode::test) {
    isa::give_phase_result(blocks_.row_of(warp, instruction.destination[0]), active, complete);
    front_end_.commit_at(slot, warp, record, free - 1 + record.latency);
    acquire(record);
    return go_on();
  }
  const SmCycle until = limit_of(warp, instruction, active, now);
  blocks_.block_of(warp).phase_waits.push_back(
      {warp.warp_in_block, warp.paths.pc(), warp.paths.mask(), active, until});
  arm(slot, until);
  warp.paths.wait();
  if (warp.paths.runnable()) {
    front_end_.resume_at(slot, now + 1);
  } else {
    front_end_.wait_for_phase(slot);
  }
  front_end_.report_if_stuck(BlockPlace(warp.block), now);
}

void Mbarriers::let_go(BlockPlace place, const PhaseWait& wait, std::uint32_t complete,
                       SmCycle now) {
  const WarpSlot slot = slot_of(blocks_.block(place), wait.warp);
  Warp& warp = blocks_.warp(slot);
  const Instruction& instruction = blocks_.instruction(warp, wait.pc);
  const IssueRecord& record = warp.records[wait.pc];
  isa::give_phase_result(blocks_.row_of(warp, instruction.destination[0]), wait.active, complete);
  const SmCycle when = now + record.latency;
  front_end_.commit_at(slot, warp, record, when);
  acquire(record);
  const bool stood = !warp.paths.runnable();
  warp.paths.release(wait.path);
  if (stood) front_end_.release_from_barrier(slot, when);
}

void Mbarriers::wake(BlockPlace place, SmCycle now) {
  BlockSlot& block = blocks_.block(place);
  std::erase_if(block.phase_waits, [&](const PhaseWait& wait) {
    const Warp& warp = blocks_.warp(slot_of(block, wait.warp));
    const Instruction& instruction = blocks_.instruction(warp, wait.pc);
    const std::uint32_t complete = lanes_with_phase_over(warp, instruction, wait.active, false);
    if (complete != 0) let_go(place, wait, complete, now);
    return complete != 0;
  });
}

/// Sets the warp's event for the wait that ends first. Each warp has one event under way: it cannot
/// be taken back, and the next one begins when it comes.
void Mbarriers::arm(WarpSlot slot, SmCycle until) {
  SmCycle& timer = timers_[slot.value()];
  if (timer <= until) return;
  timer = until;
  front_end_.tell_at(slot, WarpEvent::wait_limit, until);
}

void Mbarriers::limit_came(WarpSlot slot, SmCycle now) {
  if (timers_[slot.value()] != now) return;
  timers_[slot.value()] = no_cycle;
  if ((blocks_.resident() & bit_of(slot)) == 0) return;
  const Warp& warp = blocks_.warp(slot);
  const BlockPlace place(warp.block);
  std::erase_if(blocks_.block(place).phase_waits, [&](const PhaseWait& wait) {
    if (wait.warp != warp.warp_in_block) return false;
    if (wait.until > now) {
      arm(slot, wait.until);
      return false;
    }
    const Instruction& instruction = blocks_.instruction(warp, wait.pc);
    let_go(place, wait, lanes_with_phase_over(warp, instruction, wait.active, false), now);
    return true;
  });
}

void Mbarriers::owe(WarpSlot slot, Owed owed, SmCycle now) {
  owed.mark = copies().mark(slot, now);
  const SmCycle through = copies().through_before(slot, owed.mark, now);
  std::vector<Owed>& of_warp = owed_[slot.value()];
  if (through <= now && of_warp.empty()) return arrive(slot, owed, now);
  of_warp.push_back(owed);
  front_end_.set_owing(slot, true);
  if (through != no_cycle)
    front_end_.tell_at(slot, WarpEvent::copies_came, std::max(through, now + 1));
}

void Mbarriers::copies_came(WarpSlot slot, SmCycle now) {
  std::vector<Owed>& of_warp = owed_[slot.value()];
  while (!of_warp.empty() && copies().through_before(slot, of_warp.front().mark, now) <= now) {
    const Owed owed = of_warp.front();
    of_warp.erase(of_warp.begin());
    arrive(slot, owed, now);
  }
  if (!of_warp.empty()) return;
  front_end_.set_owing(slot, false);
  front_end_.request_answered(slot, now);
}

void Mbarriers::arrive(WarpSlot slot, const Owed& owed, SmCycle now) {
  const Warp& warp = blocks_.warp(slot);
  BlockSlot& block = blocks_.block_of(warp);
  if (block.alive_threads == 0) return;
  bool completes = false, is_mistaken = false;
  for_each_lane(owed.lanes, [&](unsigned lane) {
    const std::uint32_t offset = owed.address[lane];
    const std::uint64_t before = word_at(block, offset);
    const InstructionMistake mistake =
        isa::mbarrier_mistake(AtomicOperation::arrive, before, 1, offset);
    if (is_mistaken || mistake) {
      if (!is_mistaken)
        mistakes_.report(TenantId(warp.tenant),
                         mistakes_.by(warp, owed.pc, lane, mistake.what, mistake.advice), now);
      is_mistaken = true;
      return;
    }
    completes |= step(block, offset, AtomicOperation::arrive, 1);
  });
  if (completes) wake(BlockPlace(warp.block), now);
}

void Mbarriers::complete(WarpSlot slot, std::uint32_t pc, unsigned lane, std::uint32_t offset,
                         std::uint64_t bytes, SmCycle now) {
  constexpr auto operation = AtomicOperation::complete_transactions;
  const Warp& warp = blocks_.warp(slot);
  const BlockSlot& block = blocks_.block_of(warp);
  if (const InstructionMistake mistake =
          isa::mbarrier_mistake(operation, word_at(block, offset), bytes, offset))
    return mistakes_.report(TenantId(warp.tenant),
                            mistakes_.by(warp, pc, lane, mistake.what, mistake.advice), now);
  if (step(block, offset, operation, bytes)) wake(BlockPlace(warp.block), now);
}

std::optional<std::uint64_t> Mbarriers::arrive(BlockPlace place, std::uint32_t offset,
                                               AtomicOperation operation, std::uint64_t count,
                                               SmCycle now) {
  const BlockSlot& block = blocks_.block(place);
  const std::uint64_t word = word_at(block, offset);
  if (isa::mbarrier_mistake(operation, word, count, offset)) return word;
  if (step(block, offset, operation, count)) wake(place, now);
  return std::nullopt;
}

std::vector<Mbarriers::Owed> Mbarriers::take_out(WarpSlot slot) {
  front_end_.set_owing(slot, false);
  return std::exchange(owed_[slot.value()], {});
}

void Mbarriers::put_in(WarpSlot slot, std::vector<Owed> owed, SmCycle now) {
  if (owed.empty()) return;
  const std::uint16_t mark = copies().mark(slot, now);
  for (Owed& each : owed) each.mark = mark;
  owed_[slot.value()] = std::move(owed);
  front_end_.set_owing(slot, true);
  front_end_.tell_at(slot, WarpEvent::copies_came, now + 1);
}

void Mbarriers::stop_timers(BlockPlace place, SmCycle now) {
  for (PhaseWait& wait : blocks_.block(place).phase_waits)
    wait.until = SmCycle{} + std::max<std::int64_t>(1, wait.until - now);
}

void Mbarriers::start_timers(BlockPlace place, SmCycle now) {
  BlockSlot& block = blocks_.block(place);
  for (PhaseWait& wait : block.phase_waits) {
    wait.until = now + (wait.until - SmCycle{});
    arm(slot_of(block, wait.warp), wait.until);
  }
}

}  // namespace lockstep
