#include "models/sm/execution/barriers.hpp"

#include <bit>

namespace lockstep {

using isa::Instruction;

namespace {

enum class Reduction : std::uint8_t { population, all, any };

unsigned barrier_number(const isa::WarpContext& context, const Instruction& instruction,
                        unsigned lane) {
  const isa::Operand operand = instruction.source[0];
  return operand.valid() ? context.row(operand)[lane] : instruction.detail & 0xffu;
}

}  // namespace

void Barriers::arrive(WarpSlot slot, const Instruction& instruction, std::uint32_t lanes,
                      SmCycle now) {
  Warp& warp = blocks_.warp(slot);
  BlockSlot& block = blocks_.block_of(warp);
  const std::uint32_t pc = warp.paths.pc();
  const unsigned lane = static_cast<unsigned>(std::countr_zero(lanes));
  const isa::WarpContext context = blocks_.context_of(warp);
  const unsigned number = barrier_number(context, instruction, lane);
  if (number >= block.barriers.size() || number >= constants_.parameters.barriers)
    mistakes_.user_error(warp, pc, lane, "barrier " + std::to_string(number) + " does not exist",
                         "an SM has " + std::to_string(constants_.parameters.barriers));
  ++statistics_.tenant[warp.tenant].barriers;
  NamedBarrier& state = block.barriers[number];
  if (instruction.flags & isa::flag_count_given)
    state.expected = context.row(instruction.source[1])[lane];
  state.arrived += static_cast<std::uint32_t>(std::popcount(lanes));
  block.gathering |= 1u << number;
  if (instruction.flags & isa::flag_barrier_reduce) {
    std::uint32_t holds = ~0u;
    if (instruction.predicate_source[0] != isa::no_predicate)
      holds = context.predicates[instruction.predicate_source[0]];
    if (instruction.flags & isa::flag_source_negated_0) holds = ~holds;
    state.population += static_cast<std::uint32_t>(std::popcount(lanes & holds));
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
  block.order_stores();
  for_each_warp(block.warps, [&](WarpSlot slot) { release(slot, number, done, expected, now); });
}

void Barriers::release(WarpSlot slot, unsigned number, const NamedBarrier& done,
                       std::uint32_t expected, SmCycle now) {
  Warp& warp = blocks_.warp(slot);
  const isa::WarpContext context = blocks_.context_of(warp);
  std::uint32_t released_lanes = 0;
  warp.paths.for_each_waiting([&](std::uint32_t pc, std::uint32_t lanes) {
    const Instruction& instruction = blocks_.instruction(warp, pc);
    if (barrier_number(context, instruction, static_cast<unsigned>(std::countr_zero(lanes))) !=
        number)
      return;
    released_lanes |= lanes;
    if (instruction.flags & isa::flag_barrier_reduce)
      write_reduction(context, instruction, lanes, done.population, expected);
  });
  if (released_lanes == 0) return;
  const bool stood = !warp.paths.runnable();
  warp.paths.release(released_lanes);
  if (stood)
    front_end_.release_from_barrier(slot, now + constants_.parameters.barrier_latency.count());
}

void Barriers::write_reduction(const isa::WarpContext& context, const Instruction& instruction,
                               std::uint32_t lanes, std::uint32_t population,
                               std::uint32_t threads) {
  const auto reduction = static_cast<Reduction>((instruction.detail >> 8) & 3);
  if (reduction == Reduction::population) {
    if (!instruction.destination[0].valid()) return;
    std::uint32_t* row = context.row(instruction.destination[0]);
    for (std::uint32_t left = lanes; left != 0; left &= left - 1)
      row[std::countr_zero(left)] = population;
    return;
  }
  if (instruction.predicate_destination[0] == isa::no_predicate) return;
  const bool holds = reduction == Reduction::all ? population == threads : population != 0;
  std::uint32_t& predicate = context.predicates[instruction.predicate_destination[0]];
  predicate = holds ? predicate | lanes : predicate & ~lanes;
}

}  // namespace lockstep
