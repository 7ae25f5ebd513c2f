/// Cuts the ranges of a prefetcher into transfers.
///
/// Faulting pages go first, because warps wait for them.  upto: going up a range, each faulting
/// page ends a transfer of everything since the last cut; the pages behind the last faulting one
/// are a prefetch.  isolate: each faulting page alone, then the runs between them.
/// Source: 001, section B.3 (fault at the start of a range); virtual-memory-and-exceptions.md,
/// section 5.5 (faults elsewhere).
#pragma once

#include <span>
#include <vector>

#include "models/driver/fault_parameters.hpp"
#include "models/driver/residency.hpp"

namespace lockstep {

struct PlannedTransfer {
  PageRange pages;
  bool fault = false;  ///< an access waits for the page

  bool operator==(const PlannedTransfer&) const = default;
};

/// Appends the transfers in the order of sending. `moves` and `faults` ascend; the moves contain
/// all faults.
void split_moves(std::span<const PageRange> moves, std::span<const ManagedPage> faults,
                 FaultSplit mode, std::vector<PlannedTransfer>& transfers);

}  // namespace lockstep
