/// Counting cycles: why nothing was issued.
/// Source: architecture.md, section 8, "From the first day in the SM" (CPI stack).
#include <array>
#include <bit>

#include "models/sm/front_end/front_end.hpp"

namespace lockstep {

namespace {

using enum StallCause;

/// Causes for which warps are not ready, those nearest to issuing first.
constexpr std::array usual_causes{dependency, StallCause::memory, control, fence, barrier, drain};
/// All causes, for the case that the usual ones do not suffice: an exception scheme may hold warps
/// back, or warps wait for copies, mbarriers, barriers of clusters, products of warp groups or
/// registers.
constexpr std::array all_causes{
    log_full,   queue_full, dependency, late_source, StallCause::fetch, StallCause::memory, control,
    last_check, fence,      barrier,    mbarrier,    cluster,           async_copy,         wgmma,
    registers,  fault,      drain};

/// Cause that is charged for cycles in which schedulers issued nothing.
struct Charges {
  const ExecutionUnits& units;
  ResidentBlocks& blocks;
  const std::uint64_t cycles;
  /// Charges the only grid.
  GridCounts* const alone = blocks.counts_of_only_grid();

  /// Charges the stalled schedulers that have one of these warps.  Returns the others.
  [[gnu::always_inline]] unsigned charge(unsigned stalled, std::uint64_t warps,
                                         StallCause cause) const {
    if (warps == 0) return stalled;
    const unsigned here = units.schedulers_of(warps) & stalled;
    if (alone != nullptr) {
      // The warps themselves are not looked at: their state may be far away in this computer's
      // caches.
      alone->stalls[static_cast<std::size_t>(cause)] +=
          cycles * static_cast<unsigned>(std::popcount(here));
    } else {
      charge_grids(warps, cause, here);
    }
    return stalled & ~here;
  }
  /// A scheduler is charged to the grid of its first warp that waits for the cause.
  [[gnu::noinline]] void charge_grids(std::uint64_t warps, StallCause cause, unsigned here) const {
    for (; here != 0; here &= here - 1) {
      const std::uint64_t own = warps & units.warps_of(here & -here);
      blocks.counts_of(first_of(own)).stalls[static_cast<std::size_t>(cause)] += cycles;
    }
  }
};

}  // namespace

void FrontEnd::count_stalled(unsigned stalled, std::uint64_t cycles) {
  const std::uint64_t resident = blocks_.resident();
  if (resident == 0) return;
  const Charges charges{hot_.units, blocks_, cycles};
  const std::uint64_t memory = ready_[memory_unit];
  std::uint64_t computing = memory & hot_.gate.open();
  for (std::size_t u = 0; u < unit_classes; ++u)
    if (u != memory_unit) computing |= ready_[u];
  stalled = charges.charge(stalled, computing, unit);
  stalled = charges.charge(stalled, memory, memory_queue);
  std::uint64_t faulted = blocks_.page_waiters();
  if (faulted != 0) [[unlikely]]
    faulted &= waiting(StallCause::memory) | waiting(fence) | waiting(drain) | waiting(async_copy);
  const auto waits_for = [&](StallCause cause) {
    if (cause == fault) return waiting(fault) | faulted;
    const bool is_for_answers =
        cause == StallCause::memory || cause == fence || cause == drain || cause == async_copy;
    return is_for_answers ? waiting(cause) & ~faulted : waiting(cause);
  };
  const auto charge_each = [&](const auto& causes, const auto& warps_of) {
    for (const StallCause cause : causes) {
      if (stalled == 0) break;
      stalled = charges.charge(stalled, warps_of(cause), cause);
    }
  };
  const bool some_are_held =
      holds_.any() && (waiting(log_full) | waiting(queue_full) | waiting(late_source) |
                       waiting(StallCause::fetch) | waiting(last_check) | waiting(fault)) != 0;
  const std::uint64_t asynchronous = waiting(async_copy) | waiting(mbarrier) | waiting(cluster) |
                                     waiting(wgmma) | waiting(StallCause::registers);
  if (some_are_held || (faulted | asynchronous) != 0) [[unlikely]]
    charge_each(all_causes, waits_for);
  else
    charge_each(usual_causes, [&](StallCause cause) { return waiting(cause); });
  if (stalled == 0) return;
  // A scheduler without warps idles at the cost of the first resident warp's grid.
  blocks_.counts_of(first_of(resident)).stalls[static_cast<std::size_t>(idle)] +=
      cycles * static_cast<unsigned>(std::popcount(stalled));
}

void FrontEnd::account_stalls(SmCycle up_to) {
  // Cycles in which no warp could issue have one cause, since nothing changed between them.
  if (up_to - 1 <= hot_.accounted) return;
  const auto cycles = static_cast<std::uint64_t>(up_to - 1 - hot_.accounted);
  // The last simulated cycle, if no warp could issue in it, is charged here but was not skipped.
  const bool with_last = hot_.accounted < hot_.cycle;
  if (const std::uint64_t skipped = cycles - with_last; skipped != 0) {
    // Counts the first skip since the last accounting.
    statistics_.skips += with_last || hot_.accounted == hot_.cycle;
    statistics_.skipped_cycles += skipped;
  }
  hot_.accounted = up_to - 1;
  count_stalled(hot_.units.all_schedulers(), cycles);
}

void FrontEnd::account_held_cycle(SmCycle now) {
  account_stalls(now + 1);
  ++statistics_.skipped_cycles;
}

}  // namespace lockstep
