/// Counting cycles: why nothing was issued.
/// Source: architecture.md, section 8, "From the first day in the SM" (CPI stack).
#include <bit>

#include "models/sm/front_end/front_end.hpp"

namespace lockstep {

namespace {

/// What warps wait for that are not ready, the nearest to issuing first; `held`: an exception
/// scheme or a source may hold warps back.
template <bool held, class Charge>
void charge_each(Charge&& charge) {
  if constexpr (held) {
    charge(StallCause::log_full);
    charge(StallCause::queue_full);
  }
  charge(StallCause::dependency);
  if constexpr (held) {
    charge(StallCause::late_source);
    charge(StallCause::fetch);
  }
  charge(StallCause::memory);
  charge(StallCause::control);
  if constexpr (held) charge(StallCause::last_check);
  charge(StallCause::fence);
  charge(StallCause::barrier);
  if constexpr (held) charge(StallCause::fault);
  charge(StallCause::drain);
}

}  // namespace

void FrontEnd::count_stalled(unsigned stalled, std::uint64_t cycles) {
  const std::uint64_t resident = blocks_.resident();
  if (resident == 0) return;
  const ExecutionUnits& units = hot_.units;
  const bool one_tenant = statistics_.tenant.size() == 1;
  const auto charge_all = [&](std::uint64_t who, StallCause cause) {
    if (who == 0) return;
    unsigned here = units.schedulers_of(who) & stalled;
    stalled &= ~here;
    const auto number = static_cast<std::size_t>(cause);
    if (one_tenant) {
      // Warps are not looked at: what a waiting one keeps may be far away in this computer's
      // caches.
      statistics_.tenant[0].stalls[number] += cycles * static_cast<unsigned>(std::popcount(here));
      return;
    }
    // A scheduler is charged to the tenant of its first warp that waits for the cause.
    for (; here != 0; here &= here - 1) {
      const std::uint64_t own = who & units.warps_of(here & -here);
      statistics_.tenant[blocks_.tenant_of(first_of(own)).value()].stalls[number] += cycles;
    }
  };
  const std::uint64_t memory = ready_[static_cast<std::size_t>(isa::Unit::memory)];
  std::uint64_t computing = memory & hot_.gate.open();
  for (std::size_t u = 0; u < unit_classes; ++u)
    if (u != static_cast<std::size_t>(isa::Unit::memory)) computing |= ready_[u];
  charge_all(computing, StallCause::unit);
  charge_all(memory, StallCause::memory_queue);
  const auto charge = [&](StallCause cause) {
    if (stalled != 0) charge_all(waits(cause), cause);
  };
  held_ == 0 ? charge_each<false>(charge) : charge_each<true>(charge);
  if (stalled == 0) return;
  // A scheduler without warps idles at the cost of the first resident warp's tenant.
  const TenantId tenant = blocks_.tenant_of(first_of(resident));
  statistics_.tenant[tenant.value()].stalls[static_cast<std::size_t>(StallCause::idle)] +=
      cycles * static_cast<unsigned>(std::popcount(stalled));
}

void FrontEnd::account_stalls(SmCycle up_to) {
  // Cycles in which nothing could issue have one cause: nothing changed between them.
  if (up_to - 1 <= hot_.accounted) return;
  const auto cycles = static_cast<std::uint64_t>(up_to - 1 - hot_.accounted);
  statistics_.skips += hot_.accounted == hot_.cycle;  // the first look at what followed the last
  statistics_.skipped_cycles += cycles;
  hot_.accounted = up_to - 1;
  count_stalled(hot_.units.all_schedulers(), cycles);
}

}  // namespace lockstep
