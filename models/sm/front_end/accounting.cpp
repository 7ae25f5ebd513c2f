/// Counting cycles: who was here, and why nothing was issued.
/// Source: architecture.md, section 8, "From the first day in the SM" (CPI stack).
#include <bit>
#include <utility>

#include "models/sm/sm_state.hpp"

namespace lockstep {

void SmState::count_stalled(unsigned stalled, std::uint64_t cycles) {
  if (resident == 0) return;
  const bool one_tenant = statistics.tenant.size() == 1;
  const auto charge_all = [&](std::uint64_t who, StallCause cause) {
    if (who == 0) return;
    unsigned here = units.schedulers_of(who) & stalled;
    stalled &= ~here;
    const auto number = static_cast<std::size_t>(cause);
    if (one_tenant) {
      // Warps are not looked at: what a waiting one keeps may be far away in this computer's
      // caches.
      statistics.tenant[0].stalls[number] += cycles * static_cast<unsigned>(std::popcount(here));
      return;
    }
    // A scheduler is charged to the tenant of its first warp that waits for the cause.
    for (; here != 0; here &= here - 1) {
      const std::uint64_t own = who & units.warps_of(here & -here);
      const Warp& warp = warps[static_cast<unsigned>(std::countr_zero(own))];
      statistics.tenant[warp.tenant].stalls[number] += cycles;
    }
  };
  const std::uint64_t memory = ready[static_cast<std::size_t>(isa::Unit::memory)];
  std::uint64_t computing = memory & memory_open;
  for (std::size_t u = 0; u < unit_classes; ++u)
    if (u != static_cast<std::size_t>(isa::Unit::memory)) computing |= ready[u];
  charge_all(computing, StallCause::unit);
  charge_all(memory, StallCause::memory_queue);
  for (auto cause = StallCause::dependency; stalled != 0 && cause != StallCause::idle;
       cause = static_cast<StallCause>(static_cast<unsigned>(cause) + 1))
    charge_all(waits(cause), cause);
  if (stalled == 0) return;
  // A scheduler without warps idles at the cost of the first resident warp's tenant.
  const std::size_t tenant = warps[static_cast<unsigned>(std::countr_zero(resident))].tenant;
  statistics.tenant[tenant].stalls[static_cast<std::size_t>(StallCause::idle)] +=
      cycles * static_cast<unsigned>(std::popcount(stalled));
}

void SmState::account_stalls(std::int64_t up_to) {
  // Cycles in which nothing could issue have one cause: nothing changed between them.
  if (up_to - 1 <= accounted) return;
  const auto cycles = static_cast<std::uint64_t>(up_to - 1 - accounted);
  statistics.skips += accounted == cycle;  // the first look at what followed the last cycle
  statistics.skipped_cycles += cycles;
  accounted = up_to - 1;
  count_stalled(units.all_schedulers(), cycles);
}

void SmState::count_residency(std::int64_t up_to) {
  for (std::size_t t = 0; t < tenant_blocks.size(); ++t) {
    const auto cycles = static_cast<std::uint64_t>(up_to - tenant_counted[t]);
    tenant_counted[t] = up_to;
    if (tenant_blocks[t] == 0) continue;
    statistics.tenant[t].active_cycles += cycles;
    statistics.tenant[t].warp_cycles += cycles * tenant_warps[t];
  }
}

void SmState::flush_instructions(GridSlot& grid) {
  SmStatistics::OfTenant& counts = statistics.tenant[grid.launch.tenant];
  counts.issue_slots += std::exchange(grid.issue_slots, 0);
  counts.warp_instructions += grid.warp_instructions;
  counts.thread_instructions += grid.thread_instructions;
  grid.unreported += {grid.warp_instructions, grid.thread_instructions};
  grid.warp_instructions = grid.thread_instructions = 0;
}

void SmState::flush_statistics(std::int64_t up_to) {
  account_stalls(up_to);
  count_residency(up_to);
  count_fault_waits(up_to);
  for (GridSlot& grid : grids)
    if (grid.used) flush_instructions(grid);
  for (std::size_t t = 0; t < tenant_blocks.size(); ++t) {
    SmStatistics::OfTenant& counts = statistics.tenant[t];
    counts.resident_warps = tenant_warps[t];
    counts.resident_blocks = tenant_blocks[t];
    const std::uint64_t looked_up =
        counts.tlb_hits.value() + counts.tlb_misses.value() + counts.tlb_merges.value();
    counts.tlb_lookups += looked_up - counts.tlb_lookups.value();
  }
  const auto waited =
      port.wait_femtoseconds() / static_cast<std::uint64_t>(clock.period().femtoseconds());
  statistics.port_wait_cycles += waited - statistics.port_wait_cycles.value();
}

}  // namespace lockstep
