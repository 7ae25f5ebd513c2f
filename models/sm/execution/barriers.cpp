#include "models/sm/execution/barriers.hpp"

#include <bit>

#include "models/isa/barriers/named_barrier.hpp"

namespace lockstep {

using isa::barrier_number;
using isa::Instruction;

void Barriers::arrive(WarpSlot slot, const Instruction& instruction, std::uint32_t lanes,
                      SmCycle now) {
  Warp& warp = blocks_.warp(slot);
  BlockSlot& block = blocks_.block_of(warp);
  const std::uint32_t pc = warp.paths.pc();
  const unsigned lane = static_cast<unsigned>(std::countr_zero(lanes));
  const isa::WarpContext context = blocks_.context_of(warp);
  const unsigned number = barrier_number(context, instruction, lane);
  if (number >= block.barriers.size() || number >= constants_.parameters.barriers)
    mistakes_.user_error(warp, pc, lane, isa::barrier_mistake(number),
                         "an SM has " + std::to_string(constants_.parameters.barriers));
  ++statistics_.tenant[warp.tenant].barriers;
  NamedBarrier& state = block.barriers[number];
  if (instruction.flags & isa::flag_count_given)
    state.expected = isa::barrier_count(context, instruction, lane);
  state.arrived += isa::arrived_threads(lanes, warp.paths.alive(), state.expected != 0);
  block.gathering |= 1u << number;
  if (instruction.flags & isa::flag_barrier_reduce) {
    const std::uint32_t hold = isa::lanes_that_hold(context, instruction, lanes);
    state.population += static_cast<std::uint32_t>(std::popcount(hold));
    state.some_do_not_hold |= hold != lanes;
  }
  if (instruction.flags & isa::flag_barrier_arrive) {
    warp.paths.advance();
    front_end_.resume_at(slot, now + 1);
  } else {
    warp.paths.wait();
    if (warp.paths.runnable()) {
      front_end_.resume_at(slot, now + 1);
    } else {
      front_end_.wait_at_barrier(slot);
    }
  }
  const BlockPlace place(warp.block);
  check(place, number, now);
  front_end_.report_if_stuck(place, now);
}

void Barriers::check(BlockPlace place, unsigned number, SmCycle now) {
  BlockSlot& block = blocks_.block(place);
  NamedBarrier& state = block.barriers[number];
  const std::uint32_t expected = state.expected ? state.expected : block.alive_threads;
  if (state.arrived < expected || state.arrived == 0) return;
  const NamedBarrier done = state;
  state = {};
  block.gathering &= ~(1u << number);
  blocks_.under_way().order_stores(place);
  for_each_warp(block.warps, [&](WarpSlot slot) { release(slot, number, done, now); });
}

void Barriers::release(WarpSlot slot, unsigned number, const NamedBarrier& done, SmCycle now) {
  Warp& warp = blocks_.warp(slot);
  const isa::WarpContext context = blocks_.context_of(warp);
  std::uint32_t released_lanes = 0;
  warp.paths.for_each_waiting([&](std::uint32_t pc, std::uint32_t lanes) {
    const Instruction& instruction = blocks_.instruction(warp, pc);
    // Warps at other instructions do not wait for this barrier.
    if (instruction.category != isa::Category::barrier) return;
    if (barrier_number(context, instruction, static_cast<unsigned>(std::countr_zero(lanes))) !=
        number)
      return;
    released_lanes |= lanes;
    if (instruction.flags & isa::flag_barrier_reduce)
      isa::give_reduction(context, instruction, lanes, done.population, !done.some_do_not_hold);
  });
  if (released_lanes == 0) return;
  const bool stood = !warp.paths.runnable();
  warp.paths.release(released_lanes);
  if (stood)
    front_end_.release_from_barrier(slot, now + constants_.parameters.barrier_latency.count());
}

}  // namespace lockstep
