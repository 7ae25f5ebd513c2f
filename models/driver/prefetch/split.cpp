#include "models/driver/prefetch/split.hpp"

#include <algorithm>

namespace lockstep {

namespace {

void upto(const PageRange& range, std::span<const ManagedPage> faults,
          std::vector<PlannedTransfer>& transfers) {
  ManagedPage cut = range.first;
  for (const ManagedPage fault : faults) {
    transfers.push_back({{cut, fault - cut + 1}, true});
    cut = fault + 1;
  }
  if (cut < range.end()) transfers.push_back({{cut, range.end() - cut}, false});
}

void isolate(const PageRange& range, std::span<const ManagedPage> faults,
             std::vector<PlannedTransfer>& transfers) {
  for (const ManagedPage fault : faults) transfers.push_back({{fault, 1}, true});
  ManagedPage begin = range.first;
  for (const ManagedPage fault : faults) {
    if (begin < fault) transfers.push_back({{begin, fault - begin}, false});
    begin = fault + 1;
  }
  if (begin < range.end()) transfers.push_back({{begin, range.end() - begin}, false});
}

}  // namespace

void split_moves(std::span<const PageRange> moves, std::span<const ManagedPage> faults,
                 FaultSplit mode, std::vector<PlannedTransfer>& transfers) {
  for (const PageRange& range : moves) {
    const auto end = std::lower_bound(faults.begin(), faults.end(), range.end());
    const auto count = static_cast<std::size_t>(end - faults.begin());
    (mode == FaultSplit::upto ? upto : isolate)(range, faults.first(count), transfers);
    faults = faults.subspan(count);
  }
}

}  // namespace lockstep
