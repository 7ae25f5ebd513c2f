/// Counting warps that wait for pages which are not in GPU memory.
///
/// A warp waits from the refusal of a page for which it has a line parked, or from parking one
/// later, until the page's translation has come; it may go on with what does not need the line.
/// The integral over the cycles is brought up to date whenever the set of such warps changes, so
/// that it is exact at every epoch.
/// Source: virtual-memory-and-exceptions.md, section 16 ("warps stalled on faults integrated over
/// cycles").
///
/// Simplified: a warp whose access has not left the load-store unit's queue, because another one's
/// fault holds it up there, is not counted.
#include <bit>

#include "models/sm/sm_state.hpp"

namespace lockstep {

void SmState::count_fault_waits(std::int64_t up_to) {
  const auto cycles = static_cast<std::uint64_t>(up_to - fault_waits_counted);
  fault_waits_counted = up_to;
  for (std::uint64_t left = fault_waits; left != 0; left &= left - 1)
    statistics.tenant[warps[static_cast<unsigned>(std::countr_zero(left))].tenant]
        .fault_warp_cycles += cycles;
}

void SmState::wait_for_fault(unsigned warp, std::int64_t now) {
  if ((fault_waits & bit(warp)) != 0) return;
  count_fault_waits(now);
  fault_waits |= bit(warp);
}

void SmState::end_fault_wait(std::uint16_t miss, std::int64_t now) {
  count_fault_waits(now);
  translation.miss(miss).refused_since = -1;
  find_fault_waits();
}

/// A warp may wait for several pages.
void SmState::find_fault_waits() {
  fault_waits = 0;
  translation.for_each_miss([&](std::uint16_t i) {
    if (translation.miss(i).refused_since < 0) return;
    translation.for_each_parked(i, [&](const Access& access, unsigned) {
      fault_waits |= bit(access.warp);
      return false;
    });
  });
}

}  // namespace lockstep
