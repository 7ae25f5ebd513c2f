#pragma once

#include <span>
#include <vector>

#include "models/driver/managed/managed_pages.hpp"
#include "models/driver/prefetch/split.hpp"

namespace lockstep {

/// Plans transfers of large pages: each large page with a page of `moves` goes whole and alone.
void plan_granules(const ManagedPages& pages, std::span<const PageRange> moves,
                   std::span<const ManagedPage> faults, std::vector<PlannedTransfer>& transfers);

}  // namespace lockstep
