/// Number of warps that wait for pages which are not in GPU memory.
///
/// A warp waits from the refusal of a page for which it has a parked or squashed line, or from the
/// moment when it parks a line later, until the page's translation has come.  Meanwhile it may
/// issue instructions that do not need the line.  The sum over the cycles is updated whenever the
/// set of such warps changes, so that it is exact at every epoch.
/// Source: virtual-memory-and-exceptions.md, section 16 ("warps stalled on faults integrated over
/// cycles").
///
/// A warp whose block leaves the SM stops waiting there, and no warp waits for a prefetch.
///
/// Simplified: a warp is not counted while the fault of another access holds its own access in the
/// load-store unit's queue.
#pragma once

#include <cstdint>

#include "core/error/error.hpp"
#include "models/sm/blocks/resident_blocks.hpp"
#include "models/sm/parameters/sm_cycle.hpp"
#include "models/sm/translation/parked_pages.hpp"

namespace lockstep {

class FaultWaits {
 public:
  FaultWaits(SmStatistics& statistics, ResidentBlocks& blocks)
      : statistics_(statistics), blocks_(blocks) {}

  void count(SmCycle up_to) {
    const auto cycles = static_cast<std::uint64_t>(up_to - counted_);
    counted_ = up_to;
#ifndef NDEBUG
    LOCKSTEP_CHECK((blocks_.page_waiters() & ~blocks_.resident()) == 0, "an empty slot waits");
#endif
    for_each_warp(blocks_.page_waiters(), [&](WarpSlot warp) {
      statistics_.tenant[blocks_.tenant_of(warp).value()].fault_warp_cycles += cycles;
    });
  }
  /// A line of the access is parked for a page that was refused.
  void begin(const Access& access, SmCycle now) {
    if (access.kind == Access::Kind::prefetch) return;
    const WarpSlot warp(access.warp);
    if ((blocks_.page_waiters() & bit_of(warp)) != 0) return;
    count(now);
    blocks_.page_waiters() |= bit_of(warp);
  }
  /// Finds the warps that wait after some lines have left; a warp may wait for several pages.
  /// `stopped`: warps with squashed lines.
  void find(const ParkedPages& pages, std::uint64_t stopped) {
    blocks_.page_waiters() = stopped | pages.warps_of_refused();
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(blocks_.page_waiters(), counted_);
  }

 private:
  SmStatistics& statistics_;
  ResidentBlocks& blocks_;
  SmCycle counted_;  ///< cycle up to which waiting warps have been counted
};

}  // namespace lockstep
