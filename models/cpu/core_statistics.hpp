#pragma once

#include "core/statistics/statistics.hpp"

namespace lockstep {

/// Counters of a CPU core; a core has one tenant.
struct CoreStatistics {
  Counter instructions, reads, writes;
  Counter read_cycles, outstanding_cycles, bank_cycles;

  static auto schema() {
    using S = CoreStatistics;
    return statistics<S>()
        .counter("instructions", &S::instructions, "instructions", "instructions that retired")
        .counter("reads", &S::reads, "lines", "lines that were read")
        .counter("writes", &S::writes, "lines", "lines that were written")
        .counter("read_cycles", &S::read_cycles, "cycles",
                 "cycles of the core, from sending a read to its answer, summed")
        .counter("outstanding_cycles", &S::outstanding_cycles, "cycles",
                 "cycles of the core, in which reads were unanswered")
        .counter("bank_cycles", &S::bank_cycles, "cycles",
                 "cycles of the core, summed over the DRAM banks with unanswered reads: over "
                 "outstanding_cycles, the bank parallelism");
  }
};

}  // namespace lockstep
