#pragma once

#include <span>
#include <vector>

#include "models/driver/managed/managed_pages.hpp"
#include "models/driver/prefetch/split.hpp"

namespace lockstep {

/// Transfers of large pages: each that holds a page of `moves` goes whole and by itself.
void plan_granules(const ManagedPages& pages, std::span<const PageRange> moves,
                   std::span<const ManagedPage> faults, std::vector<PlannedTransfer>& transfers);

}  // namespace lockstep
