#pragma once

#include "core/time/clock_cycle.hpp"
#include "core/time/time.hpp"

namespace lockstep {

/// A cycle of the L2: the clock of all parts of a partition except its DRAM.
using L2Cycle = ClockCycle<struct L2CycleTag>;

/// Between cycles of the L2 and time.
class L2Clock {
 public:
  explicit L2Clock(Frequency frequency) : clock_(frequency) {}

  L2Cycle at_or_after(Time t) const { return L2Cycle{clock_.cycle_at_or_after(t).count()}; }
  /// Returns the time of a cycle; Time::never() for L2Cycle::never().
  Time edge(L2Cycle cycle) const {
    return cycle == L2Cycle::never() ? Time::never() : clock_.edge(Cycles{cycle.value()});
  }

 private:
  Clock clock_;
};

}  // namespace lockstep
