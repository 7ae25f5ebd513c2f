#pragma once

#include <vector>

#include "models/driver/eviction/eviction.hpp"

namespace lockstep {

/// Appends the evictable pages of `range`.  Returns their number.
std::uint64_t append_evictable(const EvictionView& view, PageRange range,
                               std::vector<PageRange>& victims);
/// Sorts ranges that do not overlap, and joins adjacent ones within an allocation.
void sort_victims(const Residency& residency, std::vector<PageRange>& victims);

}  // namespace lockstep
