/// Counting cycles: why nothing was issued.
/// Source: architecture.md, section 8, "From the first day in the SM" (CPI stack).
#include <array>
#include <bit>

#include "models/sm/front_end/front_end.hpp"

namespace lockstep {

namespace {

using enum StallCause;

/// Causes for which warps are not ready, those nearest to issuing first: the usual ones, and those
/// behind them of kernels that copy, multiply or wait asynchronously.
template <StallCause... causes>
struct Causes {};
constexpr Causes<dependency, StallCause::fetch, StallCause::memory> usual_causes;
constexpr Causes<control, fence, barrier, mbarrier, cluster, async_copy, wgmma, registers, drain>
    further_causes;
/// All causes, for the case that an exception scheme holds warps back, or that warps wait for
/// absent pages.
constexpr Causes<log_full, queue_full, dependency, late_source, StallCause::fetch,
                 StallCause::memory, control, last_check, fence, barrier, mbarrier, cluster,
                 async_copy, wgmma, registers, fault, drain>
    all_causes;

/// Charges cycles in which schedulers issued nothing to the only grid.
struct OneGrid {
  GridCounts& grid;
  const std::uint64_t cycles;

  void charge(unsigned schedulers, std::uint64_t, StallCause cause) const {
    // The warps themselves are not looked at: their state may be far away in this computer's
    // caches.
    grid.stalls[static_cast<std::size_t>(cause)] +=
        cycles * static_cast<unsigned>(std::popcount(schedulers));
  }
  void charge_idle(unsigned schedulers) const { charge(schedulers, 0, idle); }
};

/// Charges each scheduler to the grid of its first warp that waits for the cause.
struct SeveralGrids {
  const ExecutionUnits& units;
  ResidentBlocks& blocks;
  const std::uint64_t cycles;

  void charge(unsigned schedulers, std::uint64_t warps, StallCause cause) const {
    for (; schedulers != 0; schedulers &= schedulers - 1) {
      const std::uint64_t own = warps & units.warps_of(schedulers & -schedulers);
      blocks.counts_of(first_of(own)).stalls[static_cast<std::size_t>(cause)] += cycles;
    }
  }
  /// Idling is at the cost of the first resident warp's grid.
  void charge_idle(unsigned schedulers) const {
    OneGrid{blocks.counts_of(first_of(blocks.resident())), cycles}.charge_idle(schedulers);
  }
};

}  // namespace

template <class Charges>
[[gnu::always_inline]] inline void FrontEnd::charge_stalled(unsigned stalled,
                                                            const Charges& charges) {
  // Charges the stalled schedulers that have one of these warps, and leaves the others.
  const auto charge = [&](std::uint64_t warps, StallCause cause) __attribute__((always_inline)) {
    if (warps == 0) return;
    const unsigned here = hot_.units.schedulers_of(warps) & stalled;
    charges.charge(here, warps, cause);
    stalled &= ~here;
  };
  // Goes on until no scheduler is left. The causes are constants, so that no array is read.
  const auto charge_each = [&]<StallCause... causes>(Causes<causes...>, const auto& warps_of)
      __attribute__((always_inline)) {
    static_cast<void>(((charge(warps_of(causes), causes), stalled != 0) && ...));
  };
  const std::uint64_t refused = hot_.gate.open() == 0 ? ready(memory_unit) : 0;
  charge(ready_warps() & ~refused, unit);
  charge(refused, memory_queue);
  if (stalled == 0) return;
  const std::uint64_t page_waiters = blocks_.page_waiters();
  const bool some_are_held =
      holds_.any() && (waiting(log_full) | waiting(queue_full) | waiting(late_source) |
                       waiting(last_check) | waiting(fault)) != 0;
  if (some_are_held || page_waiters != 0) [[unlikely]] {
    const std::uint64_t faulted = page_waiters & (waiting(StallCause::memory) | waiting(fence) |
                                                  waiting(drain) | waiting(async_copy));
    charge_each(all_causes, [&](StallCause cause) {
      if (cause == fault) return waiting(fault) | faulted;
      const bool is_for_answers =
          cause == StallCause::memory || cause == fence || cause == drain || cause == async_copy;
      return is_for_answers ? waiting(cause) & ~faulted : waiting(cause);
    });
  } else {
    const auto waits_for = [&](StallCause cause) { return waiting(cause); };
    charge_each(usual_causes, waits_for);
    if (stalled == 0) return;
    const std::uint64_t further = [&]<StallCause... causes>(Causes<causes...>) {
      return (waiting(causes) | ...);
    }
    (further_causes);
    if (further != 0) charge_each(further_causes, waits_for);
  }
  // The rest has no warps, or only warps that are done, and idles.
  charges.charge_idle(stalled);
}

void FrontEnd::count_stalled(unsigned stalled, std::uint64_t cycles) {
  if (blocks_.resident() == 0) return;
  if (GridCounts* const alone = blocks_.counts_of_only_grid(); alone != nullptr) [[likely]]
    charge_stalled(stalled, OneGrid{*alone, cycles});
  else
    count_stalled_of_grids(stalled, cycles);
}

/// Apart, so that the usual way needs few registers.
[[gnu::noinline]] void FrontEnd::count_stalled_of_grids(unsigned stalled, std::uint64_t cycles) {
  charge_stalled(stalled, SeveralGrids{hot_.units, blocks_, cycles});
}

/// Cycles in which no warp could issue have one cause, since nothing changed between them.
void FrontEnd::account_skipped(SmCycle up_to) {
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
