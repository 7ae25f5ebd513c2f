/// Requests that find their way empty take it at once, instead of queue by queue.
///
/// A request that comes alone meets nobody in the port and in its bank.  Its times are then known
/// when it arrives: the port has it with its last flit, and its bank looks it up a cycle later, or
/// when the bank is free.  The partition does both in the cycle of the arrival and says the later
/// cycles, in place of a visit to each of these cycles.  The queues serve every other request, and
/// give the same times.
///
/// The rule: nothing else may happen in the partition before, or in, the cycle that is served
/// ahead.  All arrivals of a window are known, and every part says in the agenda when it is due
/// next.  Answers may leave meanwhile, since lookups do not depend on them.
#pragma once

#include <algorithm>

#include "models/memory/partition_agenda.hpp"

namespace lockstep {

/// Arrivals behind a request, as far as a partition knows them.
struct KnownArrivals {
  L2Cycle next;  ///< cycle of the next one; never: none comes before `end`
  Time end;      ///< time before which all arrivals are known, and no policy is told anything

  /// Returns whether nothing but answers happens in a partition up to the cycle `until`. `command`:
  /// time of the next DRAM command.  In a cycle DRAM goes first, then arrivals, returns and banks.
  bool nothing_until(L2Cycle until, const PartitionAgenda& agenda, const L2Clock& clock,
                     Time command) const {
    const L2Cycle others = std::min(
        {next, agenda.input, agenda.bypasses, agenda.controller, agenda.returns, agenda.banks});
    return until < others && clock.edge(until) < std::min(end, command);
  }
};

}  // namespace lockstep
