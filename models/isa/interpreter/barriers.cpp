#include "models/isa/interpreter/barriers.hpp"

#include <bit>

#include "models/isa/lane_mask.hpp"

namespace lockstep::isa {

NamedBarriers::NamedBarriers(const Program& program, std::vector<InterpretedWarp>& warps)
    : program_(program), warps_(warps) {
  for (Barrier& barrier : barriers_) clear(barrier);
}

void NamedBarriers::clear(Barrier& barrier) const {
  barrier = Barrier{};
  barrier.arrived.assign(warps_.size(), 0);
  barrier.waiting.assign(warps_.size(), 0);
}

void NamedBarriers::arrive(std::uint32_t w, const Instruction& instruction, std::uint32_t number,
                           std::uint32_t expected) {
  InterpretedWarp& warp = warps_[w];
  Barrier& barrier = barriers_[number];
  const std::uint32_t lanes = warp.paths.mask();
  barrier.used = true;
  barrier.expected = expected;
  barrier.arrived[w] |= lanes;
  if ((instruction.flags & flag_barrier_reduce) != 0) {
    std::uint32_t holds = instruction.predicate_source[0] == no_predicate
                              ? 0xffffffff
                              : warp.predicates[instruction.predicate_source[0]];
    if ((instruction.flags & flag_source_negated_0) != 0) holds = ~holds;
    barrier.population += static_cast<unsigned>(std::popcount(holds & lanes));
    barrier.all &= (lanes & ~holds) == 0;
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

void NamedBarriers::complete() {
  for (Barrier& barrier : barriers_)
    if (is_complete(barrier)) release(barrier);
}

void NamedBarriers::give_result(const Barrier& barrier, InterpretedWarp& warp,
                                const Instruction& instruction, std::uint32_t lanes) {
  const unsigned which = instruction.detail >> 8 & 3u;
  if (which == 0) {
    const Operand to = instruction.destination[0];
    if (!to.is_register()) return;
    std::uint32_t* row = warp.rows + std::size_t{to.row()} * warp_size;
    for_each_lane(lanes, [&](unsigned lane) { row[lane] = barrier.population; });
  } else if (instruction.predicate_destination[0] != no_predicate) {
    std::uint32_t& to = warp.predicates[instruction.predicate_destination[0]];
    const bool result = which == 1 ? barrier.all : barrier.population != 0;
    to = result ? to | lanes : to & ~lanes;
  }
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
        give_result(barrier, warp, instruction, lanes);
    });
    warp.paths.release(waiting);
    warp.is_behind_barrier = true;
    if (races_ != nullptr) races_->release(number, w, barrier.expected == 0);
  }
  if (races_ != nullptr) races_->clear(number);
  clear(barrier);
}

}  // namespace lockstep::isa
