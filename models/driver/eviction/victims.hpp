#pragma once

#include <vector>

#include "models/driver/eviction/eviction.hpp"

namespace lockstep {

/// Appends the pages of `range` that may be evicted.  Returns how many there are.
std::uint64_t append_evictable(const EvictionView& view, PageRange range,
                               std::vector<PageRange>& victims);
/// Sorts ranges that do not overlap, and joins those that touch within an allocation.
void sort_victims(const Residency& residency, std::vector<PageRange>& victims);

}  // namespace lockstep
