/// Named block barriers: sync, arrive and red, with and without a thread count.
///
/// A barrier counts threads.  Without a count it waits for all threads of the block that have not
/// exited.  Source: PTX ISA, "bar / barrier"; architecture.md, section 8 "Divergence".
///
/// Cost model: the waiting warps issue again `barrier_latency` after the last arrival.
#include "models/sm/sm_state.hpp"

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

void SmState::barrier(unsigned slot, const Instruction& instruction, std::uint32_t lanes,
                      std::int64_t now) {
  Warp& warp = warps[slot];
  BlockSlot& block = blocks[warp.block];
  const std::uint32_t pc = warp.paths.pc();
  const unsigned lane = static_cast<unsigned>(std::countr_zero(lanes));
  const isa::WarpContext context = context_of(warp);
  const unsigned number = barrier_number(context, instruction, lane);
  if (number >= block.barriers.size() || number >= parameters.barriers)
    user_error(warp, pc, lane, "barrier " + std::to_string(number) + " does not exist",
               "an SM has " + std::to_string(parameters.barriers));
  ++statistics.tenant[warp.tenant].barriers;
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
    resume_at(slot, now + 1);
  } else {
    warp.paths.wait();
    if (warp.paths.runnable()) {
      resume_at(slot, now + 1);
    } else {
      waits(StallCause::barrier) |= bit(slot);
    }
  }
  check_barrier(warp.block, number, now);
  report_if_stuck(warp.block, now);
}

/// All threads that have not ended wait at barriers, and only they could fill them.
void SmState::report_if_stuck(unsigned index, std::int64_t now) {
  const BlockSlot& block = blocks[index];
  const std::uint64_t standing = block.warps & waits(StallCause::barrier);
  if (!block.used || standing == 0) return;
  for (std::uint64_t left = block.warps & ~standing; left != 0; left &= left - 1)
    if (!warps[static_cast<unsigned>(std::countr_zero(left))].paths.finished()) return;
  const Warp& warp = warps[static_cast<unsigned>(std::countr_zero(standing))];
  const isa::WarpPaths::Arm path = warp.paths.first_waiting();
  if (path.lanes == 0) return;  // halted for another mistake
  report(warp.tenant,
         mistake(warp, path.pc, static_cast<unsigned>(std::countr_zero(path.lanes)),
                 "waits at a barrier for ever: all other threads of the block have ended or wait, "
                 "too",
                 "let as many threads come to the same barrier as it waits for"),
         now);
}

void SmState::order_stores(BlockSlot& block) {
  block.ordered_stores += block.fresh_stores;
  block.fresh_stores = 0;
  ++block.phase;
}

void SmState::check_barrier(unsigned index, unsigned number, std::int64_t now) {
  BlockSlot& block = blocks[index];
  NamedBarrier& state = block.barriers[number];
  const std::uint32_t expected = state.expected ? state.expected : block.alive_threads;
  if (state.arrived < expected || state.arrived == 0) return;
  const NamedBarrier done = state;
  state = {};
  block.gathering &= ~(1u << number);
  order_stores(block);
  for (std::uint64_t left = block.warps; left != 0; left &= left - 1) {
    const unsigned slot = static_cast<unsigned>(std::countr_zero(left));
    release_from_barrier(slot, number, done, expected, now);
  }
}

void SmState::release_from_barrier(unsigned slot, unsigned number, const NamedBarrier& done,
                                   std::uint32_t expected, std::int64_t now) {
  Warp& warp = warps[slot];
  const isa::WarpContext context = context_of(warp);
  std::uint32_t released_lanes = 0;
  warp.paths.for_each_waiting([&](std::uint32_t pc, std::uint32_t lanes) {
    const Instruction& instruction = grids[warp.grid].instructions[pc];
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
  if (stood) {
    waits(StallCause::barrier) &= ~bit(slot);
    resume_at(slot, now + parameters.barrier_latency.count());
  }
}

void SmState::write_reduction(const isa::WarpContext& context, const Instruction& instruction,
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
