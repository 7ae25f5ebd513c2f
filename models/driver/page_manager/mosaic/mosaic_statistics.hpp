#pragma once

#include "core/statistics/statistics.hpp"

namespace lockstep {

/// Counters of Mosaic; gauges have the values at the end of the epoch.
struct MosaicStatistics {
  PerTenant<Counter> large_allocations, base_allocations, coalesced, splintered, moved,
      bytes_copied, without_destination, emptied, emergencies;
  PerTenant<Gauge> allocated_pages, owned_frames, unused_pages;
  Gauge free_frames, emergency_frames;
  Counter guarantee_violations, foreign_moved, foreign_emptied;

  static auto schema() {
    using S = MosaicStatistics;
    return statistics<S>()
        .per_tenant("large_allocations", &S::large_allocations, "frames",
                    "frames taken whole for 2 MiB of addresses")
        .per_tenant("base_allocations", &S::base_allocations, "pages", "pages taken one by one")
        .per_tenant("coalesced", &S::coalesced, "large pages", "large pages made in place")
        .per_tenant("splintered", &S::splintered, "large pages",
                    "large pages with holes that were split, to be compacted or because frames ran "
                    "out; pages split because a part left do not count")
        .per_tenant("moved", &S::moved, "pages",
                    "pages moved to other frames of their tenant and channel")
        .per_tenant("bytes_copied", &S::bytes_copied, "bytes",
                    "bytes of pages that moved to other frames")
        .per_tenant("without_destination", &S::without_destination, "pages",
                    "pages that stayed, since no other frame had room in their channel")
        .per_tenant("emptied", &S::emptied, "large frames",
                    "large frames that came free by compaction")
        .per_tenant("emergencies", &S::emergencies, "large frames",
                    "large frames taken from the emergency list, by the tenant that needed frames")
        .per_tenant("allocated_pages", &S::allocated_pages, "pages", "pages that have a frame")
        .per_tenant("owned_frames", &S::owned_frames, "large frames",
                    "large frames for pages of this tenant alone")
        .per_tenant("unused_pages", &S::unused_pages, "pages",
                    "places of owned frames that hold no page; over allocated_pages: memory bloat")
        .gauge("free_frames", &S::free_frames, "large frames", "large frames without any page")
        .gauge("emergency_frames", &S::emergency_frames, "large frames",
               "large frames in the emergency list: large pages with holes")
        .counter("guarantee_violations", &S::guarantee_violations, "pages",
                 "pages that went into frames of other owners")
        .counter("foreign_moved", &S::foreign_moved, "pages",
                 "foreign pages (gpu.memory.fragmentation) moved to other frames")
        .counter("foreign_emptied", &S::foreign_emptied, "large frames",
                 "large frames that came free because foreign pages moved");
  }
};

}  // namespace lockstep
