#include "models/driver/prefetch/missing_pages.hpp"

#include <algorithm>

namespace lockstep {

void append_missing(const FaultGroup& group, PageRange range, std::vector<PageRange>& moves) {
  const ManagedPage end = std::min(range.end(), group.allocation.end());
  for (ManagedPage page = range.first; page < end; ++page) {
    const bool at_host = group.residency.place(page) == PagePlace::host;
    if (!at_host && !std::binary_search(group.faults.begin(), group.faults.end(), page)) continue;
    if (moves.empty() || moves.back().end() != page) moves.push_back({page, 0});
    ++moves.back().count;
  }
}

}  // namespace lockstep
