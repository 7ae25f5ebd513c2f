#include "models/driver/managed/transfer_plan.hpp"

#include <algorithm>

namespace lockstep {
namespace {

/// Returns the ranges widened to whole granules; adjacent ones are joined.
std::vector<PageRange> widened(const ManagedPages& pages, std::span<const PageRange> moves) {
  std::vector<PageRange> wide;
  for (const PageRange& move : moves) {
    const PageRange whole = pages.whole_granules(move);
    if (!wide.empty() && wide.back().end() >= whole.first) {
      wide.back().count = whole.end() - wide.back().first;
    } else {
      wide.push_back(whole);
    }
  }
  return wide;
}

}  // namespace

void plan_granules(const ManagedPages& pages, std::span<const PageRange> moves,
                   std::span<const ManagedPage> faults, std::vector<PlannedTransfer>& transfers) {
  const std::uint64_t granule = pages.granule();
  for (const PageRange& move : widened(pages, moves)) {
    for (ManagedPage first = move.first; first < move.end(); first += granule) {
      const PageRange range{first, std::min(granule, move.end() - first)};
      const auto fault = std::lower_bound(faults.begin(), faults.end(), first);
      transfers.push_back({range, fault != faults.end() && *fault < range.end()});
    }
  }
}

}  // namespace lockstep
