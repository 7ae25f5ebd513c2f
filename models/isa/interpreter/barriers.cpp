/// Named barriers of a block.
///
/// A barrier counts threads.  Without a count it waits for all that have not exited.  With one,
/// a warp whose remaining threads have all arrived counts as 32, as counts are multiples of the
/// warp size.
/// Source: PTX ISA 8.x, section 9.7.13.1 "bar, barrier".
#include <bit>

#include "models/isa/interpreter/block_runner.hpp"

namespace lockstep::isa {

void BlockRunner::barrier(std::uint32_t w, const Instruction& instruction, std::uint32_t active) {
  Warp& warp = warps_[w];
  if (active == 0) {
    warp.paths.advance();
    return;
  }
  if (const std::uint32_t others = warp.paths.mask() & ~active; others != 0) {
    // Only the lanes that the guard lets through wait; they come here again as a path.
    const std::array arms{WarpPaths::Arm{warp.paths.pc() + 1, others},
                          WarpPaths::Arm{warp.paths.pc(), active}};
    warp.paths.branch(arms, no_reconvergence);
    return;
  }
  const auto first = static_cast<unsigned>(std::countr_zero(active));
  const std::uint32_t number = instruction.source[0].valid()
                                   ? row(warp, instruction.source[0])[first]
                                   : instruction.detail & 15u;
  if (number >= barriers_.size())
    fail(warp, first, "barrier " + std::to_string(number) + " does not exist");
  Barrier& barrier = barriers_[number];
  const std::uint32_t count =
      (instruction.flags & flag_count_given) != 0 ? row(warp, instruction.source[1])[first] : 0;
  barrier.used = true;
  barrier.expected = count;
  barrier.arrived[w] |= active;
  if ((instruction.flags & flag_barrier_reduce) != 0) {
    std::uint32_t holds = instruction.predicate_source[0] == no_predicate
                              ? 0xffffffff
                              : warp.predicates[instruction.predicate_source[0]];
    if ((instruction.flags & flag_source_negated_0) != 0) holds = ~holds;
    barrier.population += static_cast<unsigned>(std::popcount(holds & active));
    barrier.all &= (active & ~holds) == 0;
  }
  if ((instruction.flags & flag_barrier_arrive) != 0) {
    warp.paths.advance();
  } else {
    barrier.waiting[w] |= active;
    warp.paths.wait();
  }
  if (is_complete(barrier)) release(barrier);
}

bool BlockRunner::is_complete(const Barrier& barrier) const {
  if (!barrier.used) return false;
  std::uint32_t arrived = 0;
  bool all = true;
  for (std::uint32_t w = 0; w < warps_.size(); ++w) {
    const bool whole = (warps_[w].paths.alive() & ~barrier.arrived[w]) == 0;
    all &= whole;
    if (barrier.arrived[w] != 0)
      arrived += whole ? warp_size : static_cast<unsigned>(std::popcount(barrier.arrived[w]));
  }
  return barrier.expected == 0 ? all : arrived >= barrier.expected;
}

void BlockRunner::complete_barriers() {
  for (Barrier& barrier : barriers_)
    if (is_complete(barrier)) release(barrier);
}

void BlockRunner::release(Barrier& barrier) {
  for (std::uint32_t w = 0; w < warps_.size(); ++w) {
    Warp& warp = warps_[w];
    const std::uint32_t waiting = barrier.waiting[w];
    if (waiting == 0) continue;
    warp.paths.for_each_waiting([&](std::uint32_t pc, std::uint32_t lanes) {
      const Instruction& i = state_.program.instructions[pc];
      if ((lanes & ~waiting) != 0 || (i.flags & flag_barrier_reduce) == 0) return;
      const unsigned which = i.detail >> 8 & 3u;
      if (which == 0) {
        auto* to = const_cast<std::uint32_t*>(row(warp, i.destination[0]));
        for (unsigned lane = 0; lane < warp_size; ++lane)
          if ((lanes >> lane & 1) != 0) to[lane] = barrier.population;
      } else if (i.predicate_destination[0] != no_predicate) {
        std::uint32_t& to = warp.predicates[i.predicate_destination[0]];
        const bool result = which == 1 ? barrier.all : barrier.population != 0;
        to = result ? to | lanes : to & ~lanes;
      }
    });
    warp.paths.release(waiting);
  }
  const std::size_t warps = warps_.size();
  barrier = Barrier{};
  barrier.arrived.assign(warps, 0);
  barrier.waiting.assign(warps, 0);
}

}  // namespace lockstep::isa
