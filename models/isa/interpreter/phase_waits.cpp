#include "models/isa/interpreter/phase_waits.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "models/isa/barriers/mbarrier.hpp"
#include "models/isa/interpreter/block_runner.hpp"
#include "models/isa/lane_mask.hpp"

namespace lockstep::isa {

std::byte* PhaseWaits::barrier_at(const InterpretedWarp& warp, const Instruction& instruction,
                                  unsigned lane, std::uint64_t address) {
  const Space space = instruction.memory.space;
  if (const InstructionMistake mistake = place_mistake(space, address, block_.shared_.size()))
    block_.fail(warp, lane, mistake.what, mistake.advice);
  return block_.shared_.data() + mbarrier_offset(space, address);
}

/// Executes a change.  Copies complete at once, so that an arrival behind them comes immediately.
void PhaseWaits::change(InterpretedWarp& warp, const Instruction& instruction,
                        std::uint32_t active) {
  std::vector<BlockRunner*> completed;  // blocks with a completed phase, each once
  for_each_lane(active, [&](unsigned lane) {
    BlockRunner* const home = change_lane(warp, instruction, lane);
    const bool is_known = std::find(completed.begin(), completed.end(), home) != completed.end();
    if (home != nullptr && !is_known) completed.push_back(home);
  });
  for (BlockRunner* home : completed) home->phase_waits_.wake();
}

BlockRunner* PhaseWaits::change_lane(const InterpretedWarp& warp, const Instruction& instruction,
                                     unsigned lane) {
  const MemoryFields& fields = instruction.memory;
  std::uint64_t address = block_.address_of(warp, instruction, lane);
  BlockRunner* home = &block_;
  if (fields.space == Space::shared_cluster) {
    const auto place =
        block_.in_cluster_.find(warp, lane, static_cast<std::uint32_t>(address), "mbarrier");
    home = place.block;
    address = place.offset;
    if (const InstructionMistake mistake =
            place_mistake(Space::shared, address, home->shared_.size()))
      block_.fail(warp, lane, mistake.what, mistake.advice);
  }
  const std::uint64_t offset = mbarrier_offset(fields.space, address);
  std::byte* place = home == &block_ && fields.space != Space::shared_cluster
                         ? barrier_at(warp, instruction, lane, address)
                         : home->shared_.data() + address;
  std::uint64_t before = 0, count = 0;
  std::memcpy(&before, place, MbarrierWord::bytes);
  std::memcpy(&count, block_.row(warp, instruction.source[1]) + 2 * lane, sizeof count);
  const auto step = [&](AtomicOperation operation, std::uint64_t word) {
    if (const InstructionMistake mistake = mbarrier_mistake(operation, word, count, offset))
      block_.fail(warp, lane, mistake.what, mistake.advice);
    return mbarrier_step(operation, word, count);
  };
  std::uint64_t after = step(fields.atomic, before);
  if (is_behind_copies(fields.atomic)) after = step(AtomicOperation::arrive, after);
  block_.state_.changed |= after != before;
  std::memcpy(place, &after, MbarrierWord::bytes);
  if (fields.returns)
    std::memcpy(const_cast<std::uint32_t*>(block_.row(warp, instruction.destination[0])) + 2 * lane,
                &before, sizeof before);
  return MbarrierWord::parity(after) != MbarrierWord::parity(before) ? home : nullptr;
}

void PhaseWaits::complete(const InterpretedWarp& warp, unsigned lane, std::uint32_t offset,
                          std::uint64_t bytes) {
  constexpr auto operation = AtomicOperation::complete_transactions;
  std::byte* place = block_.shared_.data() + offset;
  std::uint64_t before = 0;
  std::memcpy(&before, place, MbarrierWord::bytes);
  if (const InstructionMistake mistake = mbarrier_mistake(operation, before, bytes, offset))
    block_.fail(warp, lane, mistake.what, mistake.advice);
  const std::uint64_t after = mbarrier_step(operation, before, bytes);
  block_.state_.changed |= after != before;
  std::memcpy(place, &after, MbarrierWord::bytes);
  if (MbarrierWord::parity(after) != MbarrierWord::parity(before)) wake();
}

std::uint32_t PhaseWaits::lanes_with_phase_over(const InterpretedWarp& warp,
                                                const Instruction& instruction, std::uint32_t pc,
                                                std::uint32_t lanes) {
  std::uint32_t complete = 0;
  for_each_lane(lanes, [&](unsigned lane) {
    const std::uint64_t address = block_.address_of(warp, instruction, lane);
    std::uint64_t word = 0;
    std::memcpy(&word, barrier_at(warp, instruction, lane, address), MbarrierWord::bytes);
    const InstructionMistake mistake =
        wait_mistake(word, mbarrier_offset(instruction.memory.space, address));
    if (mistake && pc == warp.paths.pc()) block_.fail(warp, lane, mistake.what, mistake.advice);
    const bool is_over =
        !mistake && MbarrierWord::is_complete(word, block_.row(warp, instruction.source[1])[lane]);
    complete |= std::uint32_t{is_over} << lane;
  });
  if (block_.races_ && complete != 0) block_.watch_.races(warp, pc, instruction, complete);
  return complete;
}

void PhaseWaits::wait(InterpretedWarp& warp, const Instruction& instruction, std::uint32_t active) {
  if (active == 0) return warp.paths.advance();
  const std::uint32_t pc = warp.paths.pc();
  const std::uint32_t complete = lanes_with_phase_over(warp, instruction, pc, active);
  const auto mode = static_cast<PhaseWaitMode>(instruction.detail);
  if (complete == 0 && mode == PhaseWaitMode::suspend) {
    waiters_.push_back({warp.identity.warp_in_block, pc, warp.paths.mask(), active});
    return warp.paths.wait();
  }
  give_phase_result(const_cast<std::uint32_t*>(block_.row(warp, instruction.destination[0])),
                    active, complete);
  warp.paths.advance();
}

void PhaseWaits::let_go(const Waiter& waiter, std::uint32_t complete) {
  InterpretedWarp& warp = block_.warps_[waiter.warp];
  const Instruction& instruction = block_.state_.program.instructions[waiter.pc];
  give_phase_result(const_cast<std::uint32_t*>(block_.row(warp, instruction.destination[0])),
                    waiter.active, complete);
  warp.paths.release(waiter.path);
  warp.is_behind_barrier = true;
}

void PhaseWaits::wake() {
  std::erase_if(waiters_, [&](const Waiter& waiter) {
    const Instruction& instruction = block_.state_.program.instructions[waiter.pc];
    const std::uint32_t complete =
        lanes_with_phase_over(block_.warps_[waiter.warp], instruction, waiter.pc, waiter.active);
    if (complete != 0) let_go(waiter, complete);
    return complete != 0;
  });
}

bool PhaseWaits::end() {
  if (waiters_.empty()) return false;
  for (const Waiter& waiter : waiters_) let_go(waiter, 0);
  last_ended_ = waiters_.back();
  waiters_.clear();
  return true;
}

std::string PhaseWaits::last() const {
  if (last_ended_.active == 0) return "";
  const InterpretedWarp& warp = block_.warps_[last_ended_.warp];
  const Program& program = block_.state_.program;
  const Instruction& instruction = program.instructions[last_ended_.pc];
  const auto lane = static_cast<unsigned>(std::countr_zero(last_ended_.active));
  const Space space = instruction.memory.space;
  const std::uint64_t address = block_.address_of(warp, instruction, lane);
  if (place_mistake(space, address, block_.shared_.size())) return "";
  const std::uint64_t offset = mbarrier_offset(space, address);
  std::uint64_t word = 0;
  std::memcpy(&word, block_.shared_.data() + offset, MbarrierWord::bytes);
  return "; warp " + std::to_string(last_ended_.warp) + " waits, at line " +
         std::to_string(program.source_lines[last_ended_.pc]) + ", for " +
         mbarrier_text(word, offset);
}

}  // namespace lockstep::isa
