#pragma once

#include "core/time/clock_cycle.hpp"
#include "core/time/time.hpp"

namespace lockstep {

/// A cycle of the DRAM's command clock; spans are plain counts.
using DramCycle = ClockCycle<struct DramCycleTag>;

/// Between cycles of the DRAM and time.
class DramClock {
 public:
  explicit DramClock(Frequency frequency) : clock_(frequency) {}

  DramCycle at_or_after(Time t) const { return DramCycle{clock_.cycle_at_or_after(t).count()}; }
  DramCycle at_or_before(Time t) const { return DramCycle{clock_.cycle_at_or_before(t).count()}; }
  /// Returns the time of a cycle; Time::never() for DramCycle::never().
  Time edge(DramCycle cycle) const {
    return cycle == DramCycle::never() ? Time::never() : clock_.edge(Cycles{cycle.value()});
  }

 private:
  Clock clock_;
};

}  // namespace lockstep
