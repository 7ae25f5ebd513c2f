#include "models/isa/interpreter/barriers.hpp"

#include <bit>
#include <utility>

namespace lockstep::isa {

NamedBarriers::NamedBarriers(const Program& program, std::vector<InterpretedWarp>& warps)
    : program_(program), warps_(warps) {}

void NamedBarriers::clear(Barrier& barrier) const {
  barrier = {.arrived = std::move(barrier.arrived), .waiting = std::move(barrier.waiting)};
  barrier.arrived.assign(warps_.size(), 0);
  barrier.waiting.assign(warps_.size(), 0);
}

void NamedBarriers::arrive(std::uint32_t w, const Instruction& instruction, std::uint32_t number,
                           std::uint32_t expected) {
  InterpretedWarp& warp = warps_[w];
  Barrier& barrier = barriers_[number];
  const std::uint32_t lanes = warp.paths.mask();
  if (barrier.arrived.empty()) clear(barrier);
  barrier.used = true;
  barrier.expected = expected;
  if ((barrier.arrived[w] & lanes) != 0) {  // the warp has arrived before, without waiting
    barrier.before += arrived_threads(barrier.arrived[w], warp.paths.alive(), true);
    barrier.arrived[w] = 0;
  }
  barrier.arrived[w] |= lanes;
  if ((instruction.flags & flag_barrier_reduce) != 0) {
    const std::uint32_t hold = lanes_that_hold(context_of(warp), instruction, lanes);
    barrier.population += static_cast<unsigned>(std::popcount(hold));
    barrier.all &= hold == lanes;
  }
  if ((instruction.flags & flag_barrier_arrive) != 0) {
    warp.paths.advance();
  } else {
    barrier.waiting[w] |= lanes;
    warp.paths.wait();
  }
  if (is_complete(barrier)) release(barrier);
}

bool NamedBarriers::is_complete(const Barrier& barrier) const {
  if (!barrier.used) return false;
  std::uint32_t arrived = barrier.before;
  bool all = true;
  for (std::uint32_t w = 0; w < warps_.size(); ++w) {
    const std::uint32_t alive = warps_[w].paths.alive();
    all &= (alive & ~barrier.arrived[w]) == 0;
    arrived += arrived_threads(barrier.arrived[w], alive, true);
  }
  return barrier.expected == 0 ? all : arrived >= barrier.expected;
}

void NamedBarriers::complete() {
  for (Barrier& barrier : barriers_)
    if (is_complete(barrier)) release(barrier);
}

WarpContext NamedBarriers::context_of(const InterpretedWarp& warp) {
  WarpContext context;
  context.bases[Operand::registers] = warp.rows;
  context.bases[Operand::scratch] = discarded_.data();
  context.predicates = warp.predicates;
  return context;
}

void NamedBarriers::release(Barrier& barrier) {
  const auto number = static_cast<unsigned>(&barrier - barriers_.data());
  for (std::uint32_t w = 0; w < warps_.size(); ++w) {
    InterpretedWarp& warp = warps_[w];
    const std::uint32_t waiting = barrier.waiting[w];
    if (waiting == 0) continue;
    warp.paths.for_each_waiting([&](std::uint32_t pc, std::uint32_t lanes) {
      const Instruction& instruction = program_.instructions[pc];
      if ((lanes & ~waiting) == 0 && (instruction.flags & flag_barrier_reduce) != 0)
        give_reduction(context_of(warp), instruction, lanes, barrier.population, barrier.all);
    });
    warp.paths.release(waiting);
    warp.is_behind_barrier = true;
    if (races_ != nullptr) races_->release(number, w, barrier.expected == 0);
  }
  if (races_ != nullptr) races_->clear(number);
  clear(barrier);
}

}  // namespace lockstep::isa
