#pragma once

#include "core/statistics/statistics.hpp"

namespace lockstep {

/// What Mosaic counts; gauges as they stand at the end of the epoch.
struct MosaicStatistics {
  PerTenant<Counter> large_allocations, base_allocations, coalesced;
  PerTenant<Gauge> allocated_pages, owned_frames;
  Gauge free_frames;
  Counter guarantee_violations;

  static auto schema() {
    using S = MosaicStatistics;
    return statistics<S>()
        .per_tenant("large_allocations", &S::large_allocations, "frames",
                    "taken whole for 2 MiB of addresses")
        .per_tenant("base_allocations", &S::base_allocations, "pages", "taken one by one")
        .per_tenant("coalesced", &S::coalesced, "large pages", "made in place")
        .per_tenant("allocated_pages", &S::allocated_pages, "pages", "that have a frame")
        .per_tenant("owned_frames", &S::owned_frames, "large frames",
                    "that only this tenant's pages are to lie in; times 512 pages, less the "
                    "allocated ones: memory bloat")
        .gauge("free_frames", &S::free_frames, "large frames", "without any page")
        .counter("guarantee_violations", &S::guarantee_violations, "pages",
                 "that went into frames of other owners");
  }
};

}  // namespace lockstep
