#pragma once

#include <vector>

#include "models/driver/prefetch/prefetcher.hpp"

namespace lockstep {

/// Appends to `moves`, which end at or before `range`, the pages of `range` that faulted or are at
/// the host; pages that are there, on their way or leaving are skipped.  `range` is cut off at the
/// end of the allocation.
void append_missing(const FaultGroup& group, PageRange range, std::vector<PageRange>& moves);

}  // namespace lockstep
