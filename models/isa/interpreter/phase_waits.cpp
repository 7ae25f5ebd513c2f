/// Barriers of mbarrier, and paths of warps that wait for their phases.
///
/// A path that waits lets others run; what completes a phase looks at all that wait in the block.
/// Only when no warp of the block can run do waits end without their phases: what a program does
/// then may let it get on.
#include <cstring>

#include "models/isa/barriers/mbarrier.hpp"
#include "models/isa/interpreter/block_runner.hpp"
#include "models/isa/lane_mask.hpp"

namespace lockstep::isa {

std::byte* BlockRunner::barrier_at(const Warp& warp, const Instruction& instruction, unsigned lane,
                                   std::uint64_t address) {
  const Space space = instruction.memory.space;
  if (const MbarrierMistake mistake = place_mistake(space, address, shared_.size()))
    fail(warp, lane, mistake.what, mistake.advice);
  return shared_.data() + mbarrier_offset(space, address);
}

/// Copies are through where they stand, so that an arrival behind them comes at once.
void BlockRunner::change_barriers(Warp& warp, const Instruction& instruction,
                                  std::uint32_t active) {
  const MemoryFields& fields = instruction.memory;
  bool completes = false;
  for_each_lane(active, [&](unsigned lane) {
    const std::uint64_t address = address_of(warp, instruction, lane);
    std::byte* place = barrier_at(warp, instruction, lane, address);
    std::uint64_t before = 0, count = 0;
    std::memcpy(&before, place, MbarrierWord::bytes);
    std::memcpy(&count, row(warp, instruction.source[1]) + 2 * lane, sizeof count);
    const std::uint64_t offset = mbarrier_offset(fields.space, address);
    const auto step = [&](AtomicOperation operation, std::uint64_t word) {
      if (const MbarrierMistake mistake = mbarrier_mistake(operation, word, count, offset))
        fail(warp, lane, mistake.what, mistake.advice);
      return mbarrier_step(operation, word, count);
    };
    std::uint64_t after = step(fields.atomic, before);
    if (is_behind_copies(fields.atomic)) after = step(AtomicOperation::arrive, after);
    completes |= MbarrierWord::parity(after) != MbarrierWord::parity(before);
    state_.changed |= after != before;
    std::memcpy(place, &after, MbarrierWord::bytes);
    if (fields.returns)
      std::memcpy(const_cast<std::uint32_t*>(row(warp, instruction.destination[0])) + 2 * lane,
                  &before, sizeof before);
  });
  if (completes) wake_waiters();
}

std::uint32_t BlockRunner::lanes_with_phase_over(Warp& warp, const Instruction& instruction,
                                                 std::uint32_t pc, std::uint32_t lanes) {
  std::uint32_t complete = 0;
  for_each_lane(lanes, [&](unsigned lane) {
    const std::uint64_t address = address_of(warp, instruction, lane);
    std::uint64_t word = 0;
    std::memcpy(&word, barrier_at(warp, instruction, lane, address), MbarrierWord::bytes);
    const MbarrierMistake mistake =
        wait_mistake(word, mbarrier_offset(instruction.memory.space, address));
    if (mistake && pc == warp.paths.pc()) fail(warp, lane, mistake.what, mistake.advice);
    const bool is_over =
        !mistake && MbarrierWord::is_complete(word, row(warp, instruction.source[1])[lane]);
    complete |= std::uint32_t{is_over} << lane;
  });
  if (races_ && complete != 0) watch_races(warp, pc, instruction, complete);
  return complete;
}

void BlockRunner::wait_for_phase(Warp& warp, const Instruction& instruction, std::uint32_t active) {
  if (active == 0) return warp.paths.advance();
  const std::uint32_t pc = warp.paths.pc();
  const std::uint32_t complete = lanes_with_phase_over(warp, instruction, pc, active);
  const auto mode = static_cast<PhaseWaitMode>(instruction.detail);
  if (complete == 0 && mode == PhaseWaitMode::suspend) {
    waiters_.push_back({warp.identity.warp_in_block, pc, warp.paths.mask(), active});
    return warp.paths.wait();
  }
  give_phase_result(const_cast<std::uint32_t*>(row(warp, instruction.destination[0])), active,
                    complete);
  warp.paths.advance();
}

void BlockRunner::let_waiter_go(const PhaseWaiter& waiter, std::uint32_t complete) {
  Warp& warp = warps_[waiter.warp];
  const Instruction& instruction = state_.program.instructions[waiter.pc];
  give_phase_result(const_cast<std::uint32_t*>(row(warp, instruction.destination[0])),
                    waiter.active, complete);
  warp.paths.release(waiter.path);
  warp.is_behind_barrier = true;
}

void BlockRunner::wake_waiters() {
  std::erase_if(waiters_, [&](const PhaseWaiter& waiter) {
    Warp& warp = warps_[waiter.warp];
    const Instruction& instruction = state_.program.instructions[waiter.pc];
    const std::uint32_t complete =
        lanes_with_phase_over(warp, instruction, waiter.pc, waiter.active);
    if (complete != 0) let_waiter_go(waiter, complete);
    return complete != 0;
  });
}

bool BlockRunner::end_waits() {
  if (waiters_.empty()) return false;
  for (const PhaseWaiter& waiter : waiters_) let_waiter_go(waiter, 0);
  last_ended_ = waiters_.back();
  waiters_.clear();
  return true;
}

std::string BlockRunner::last_wait() const {
  if (last_ended_.active == 0) return "";
  const Warp& warp = warps_[last_ended_.warp];
  const Instruction& instruction = state_.program.instructions[last_ended_.pc];
  const auto lane = static_cast<unsigned>(std::countr_zero(last_ended_.active));
  const std::uint64_t offset =
      mbarrier_offset(instruction.memory.space, address_of(warp, instruction, lane));
  if (offset % MbarrierWord::bytes != 0 || offset + MbarrierWord::bytes > shared_.size()) return "";
  std::uint64_t word = 0;
  std::memcpy(&word, shared_.data() + offset, MbarrierWord::bytes);
  return "; warp " + std::to_string(last_ended_.warp) + " waits, at line " +
         std::to_string(state_.program.source_lines[last_ended_.pc]) + ", for " +
         mbarrier_text(word, offset);
}

}  // namespace lockstep::isa
