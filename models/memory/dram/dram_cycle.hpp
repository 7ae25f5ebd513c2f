#pragma once

#include "core/time/clock_cycle.hpp"
#include "core/time/time.hpp"

namespace lockstep {

/// A cycle of the DRAM's command clock; spans are plain counts.
using DramCycle = ClockCycle<struct DramCycleTag>;

/// Between cycles of the DRAM and time.
class DramClock {
 public:
  explicit DramClock(Frequency frequency) : period_(Clock(frequency).period()) {}

  DramCycle at_or_after(Time t) const {
    return DramCycle{(t.femtoseconds() + period_.femtoseconds() - 1) / period_.femtoseconds()};
  }
  DramCycle at_or_before(Time t) const { return DramCycle{t / period_}; }
  /// Returns the time of a cycle; Time::never() for DramCycle::never().
  Time edge(DramCycle cycle) const {
    return cycle == DramCycle::never() ? Time::never() : period_ * cycle.value();
  }

 private:
  Time period_;
};

}  // namespace lockstep
