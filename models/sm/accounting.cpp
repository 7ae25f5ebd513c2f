/// Counting cycles: who was here, and why nothing was issued.
#include "models/sm/sm_state.hpp"

namespace lockstep {

void SmState::count_stalled(unsigned scheduler_index, std::uint64_t cycles) {
  const std::uint64_t mine = units.warps_of(scheduler_index) & resident;
  if (resident == 0) return;
  std::uint64_t who = 0;
  std::size_t cause = 0;
  const std::uint64_t memory = ready[static_cast<std::size_t>(isa::Unit::memory)];
  std::uint64_t computing = 0;
  for (std::size_t u = 0; u < unit_classes; ++u)
    if (u != static_cast<std::size_t>(isa::Unit::memory)) computing |= ready[u];
  const std::uint64_t gated = memory_open == 0 ? memory : 0;
  if (who = mine & (computing | (memory & ~gated)); who != 0) {
    cause = static_cast<std::size_t>(StallCause::unit);
  } else if (who = mine & gated; who != 0) {
    cause = static_cast<std::size_t>(StallCause::memory_queue);
  } else {
    for (cause = static_cast<std::size_t>(StallCause::dependency);
         cause < static_cast<std::size_t>(StallCause::idle); ++cause)
      if (who = mine & waiting[cause]; who != 0) break;
  }
  // A scheduler without warps idles at the cost of the first resident warp's tenant.
  if (who == 0) who = resident;
  const unsigned warp = static_cast<unsigned>(std::countr_zero(who));
  statistics.stalls[warps[warp].tenant][cause] += cycles;
}

void SmState::account_stalls(std::int64_t up_to) {
  // Cycles in which nothing could issue have one cause: nothing changed between them.
  if (up_to - 1 <= accounted) return;
  const auto cycles = static_cast<std::uint64_t>(up_to - 1 - accounted);
  accounted = up_to - 1;
  if (resident == 0) return;
  for (unsigned s = 0; s < parameters.schedulers; ++s) count_stalled(s, cycles);
}

void SmState::count_residency(std::int64_t up_to) {
  for (std::size_t t = 0; t < tenant_blocks.size(); ++t) {
    const auto cycles = static_cast<std::uint64_t>(up_to - tenant_counted[t]);
    tenant_counted[t] = up_to;
    if (tenant_blocks[t] == 0) continue;
    statistics.active_cycles[t] += cycles;
    statistics.warp_cycles[t] += cycles * tenant_warps[t];
  }
}

void SmState::flush_instructions(GridSlot& grid) {
  statistics.warp_instructions[grid.launch.tenant] += grid.warp_instructions;
  statistics.thread_instructions[grid.launch.tenant] += grid.thread_instructions;
  grid.unreported += {grid.warp_instructions, grid.thread_instructions};
  grid.warp_instructions = grid.thread_instructions = 0;
}

void SmState::flush_statistics(std::int64_t up_to) {
  account_stalls(up_to);
  count_residency(up_to);
  for (GridSlot& grid : grids)
    if (grid.used) flush_instructions(grid);
  for (std::size_t t = 0; t < tenant_blocks.size(); ++t) {
    const std::uint64_t looked_up = statistics.tlb_hits[t].value() +
                                    statistics.tlb_misses[t].value() +
                                    statistics.tlb_merges[t].value();
    statistics.tlb_lookups[t] += looked_up - statistics.tlb_lookups[t].value();
  }
  const auto waited =
      port.wait_femtoseconds() / static_cast<std::uint64_t>(clock.period().femtoseconds());
  statistics.port_wait_cycles += waited - statistics.port_wait_cycles.value();
  statistics.resident_warps = static_cast<std::uint64_t>(std::popcount(resident));
  statistics.resident_blocks = used.blocks;
}

}  // namespace lockstep
