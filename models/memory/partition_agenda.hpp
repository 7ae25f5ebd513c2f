#pragma once

#include <algorithm>

#include "models/memory/l2_clock.hpp"

namespace lockstep {

/// Cycle in which each part of a partition next has work.  A part that frees a place wakes the part
/// that waits for it; cycles in which no part is due are skipped.
struct PartitionAgenda {
  L2Cycle arrivals = L2Cycle::never();    ///< requests reach the sender FIFOs
  L2Cycle input = L2Cycle::never();       ///< the receiving port
  L2Cycle bypasses = L2Cycle::never();    ///< the queue past the banks
  L2Cycle controller = L2Cycle::never();  ///< requests of CPU cores
  L2Cycle returns = L2Cycle::never();     ///< data from DRAM
  L2Cycle banks = L2Cycle::never();
  L2Cycle answers = L2Cycle::never();
  L2Cycle controls = L2Cycle::never();  ///< answers outside the L2

  static void wake(L2Cycle& part, L2Cycle cycle) {
    if (cycle < part) part = cycle;
  }
  L2Cycle next() const {
    return std::min(std::min(std::min(arrivals, input), std::min(returns, banks)),
                    std::min(std::min(answers, controls), std::min(controller, bypasses)));
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(arrivals, input, bypasses, controller, returns, banks, answers, controls);
  }
};

}  // namespace lockstep
