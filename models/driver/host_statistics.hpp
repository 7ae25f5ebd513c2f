#pragma once

#include "core/statistics/statistics.hpp"
#include "core/time/time.hpp"
#include "models/driver/tree_decisions.hpp"

namespace lockstep {

/// Returns the time in nanoseconds, for histograms.
inline std::uint64_t nanoseconds(Time span) {
  return static_cast<std::uint64_t>(span.femtoseconds() / 1'000'000);
}

struct HostStatistics {
  PerTenant<Counter> launches, remote_requests;
  PerTenant<Counter> far_faults, faults_invalid, late_hits, pages_migrated, pages_allocated,
      pages_demanded, pages_prefetched, prefetched_used, prefetched_unused, pages_evicted,
      pages_written_back, thrashed_pages;
  PerTenant<Counter> faults_migrated, faults_allocated, faults_remote, faults_permission,
      fault_batches, faults_local, pages_local, fault_queue_time;
  PerTenant<Counter> faults_counted, pages_fetched, pages_spilled;
  PerTenantPair fault_wait_behind;
  PerTenant<TreeDecisions> tree_prefetches, tree_evictions;
  PerTenant<Histogram<16>> batch_faults, batch_pages;
  PerTenant<Gauge> resident_pages;
  PerTenant<Histogram<32>> fault_queue, fault_service, fault_transfer, late_wait;

  static auto schema() {
    using S = HostStatistics;
    return statistics<S>()
        .per_tenant("launches", &S::launches, "grids", "kernels launched")
        .per_tenant("remote_requests", &S::remote_requests, "requests",
                    "requests of SMs to pinned host memory")
        .per_tenant("far_faults", &S::far_faults, "faults", "pages of managed memory that faulted")
        .per_tenant("faults_invalid", &S::faults_invalid, "faults",
                    "accesses outside of every buffer")
        .per_tenant(
            "late_hits", &S::late_hits, "faults",
            "far-faults on pages that were on their way already when they reached the driver")
        .per_tenant("pages_migrated", &S::pages_migrated, "pages",
                    "pages moved to the GPU over the link")
        .per_tenant("pages_allocated", &S::pages_allocated, "pages",
                    "pages given to the GPU without data, on first touch")
        .per_tenant("pages_demanded", &S::pages_demanded, "pages",
                    "pages that came in transfers for which an access waited")
        .per_tenant("pages_prefetched", &S::pages_prefetched, "pages",
                    "pages that came along with a fault or by a prefetch step")
        .per_tenant("prefetched_used", &S::prefetched_used, "pages",
                    "prefetched pages that left after they had been accessed")
        .per_tenant("prefetched_unused", &S::prefetched_unused, "pages",
                    "prefetched pages that left without having been accessed")
        .per_tenant("pages_evicted", &S::pages_evicted, "pages",
                    "pages taken off the GPU to make room")
        .per_tenant("pages_written_back", &S::pages_written_back, "pages",
                    "dirty pages moved to the host")
        .per_tenant("thrashed_pages", &S::thrashed_pages, "pages",
                    "faults on pages that had been evicted")
        .per_tenant("faults_migrated", &S::faults_migrated, "transfers",
                    "transfers for which an access waited, and whose data moved")
        .per_tenant("faults_allocated", &S::faults_allocated, "transfers",
                    "transfers without data for which an access waited: a first touch")
        .per_tenant(
            "faults_remote", &S::faults_remote, "faults",
            "faults after which the page was mapped where it was, at the host or on another GPU")
        .per_tenant("faults_counted", &S::faults_counted, "pages",
                    "pages mapped on another GPU that moved because the number of their uses "
                    "reached the threshold of peer_policy")
        .per_tenant("pages_fetched", &S::pages_fetched, "pages",
                    "pages moved to the GPU from another one over the fabric")
        .per_tenant("pages_spilled", &S::pages_spilled, "pages",
                    "evicted pages that another GPU took in")
        .per_tenant("faults_permission", &S::faults_permission, "faults",
                    "stores to read-mostly pages on the GPU, which became writable")
        .per_tenant("faults_local", &S::faults_local, "faults",
                    "faults that the GPU handled by itself, each for a granule of untouched pages")
        .per_tenant("pages_local", &S::pages_local, "pages",
                    "untouched pages that the GPU mapped by itself")
        .per_tenant(
            "fault_batches", &S::fault_batches, "batches",
            "batches of faults that the driver handled together, by the tenant of the first fault")
        .per_tenant("batch_faults", &S::batch_faults, "faults",
                    "faults in a batch, by the tenant of the first fault")
        .per_tenant("batch_pages", &S::batch_pages, "pages",
                    "pages requested because of a batch, prefetched pages included")
        .per_tenant("tree_prefetches", &S::tree_prefetches, tree_node_sizes, "nodes",
                    "nodes that the tree prefetcher completed; 64KiB: blocks that faulted")
        .per_tenant("tree_evictions", &S::tree_evictions, tree_node_sizes, "nodes",
                    "nodes that the tree eviction emptied; 64KiB: blocks of the oldest pages")
        .per_tenant("resident_pages", &S::resident_pages, "pages",
                    "pages of managed memory on the GPU")
        .per_tenant("fault_queue", &S::fault_queue, "ns",
                    "time for which a fault waited for the driver, from arrival to the start of "
                    "its service")
        .per_tenant(
            "fault_queue_time", &S::fault_queue_time, "fs",
            "time for which faults waited for the driver until the start of their service, summed")
        .per_tenant_pair("fault_wait_behind", &S::fault_wait_behind, "fs",
                         "time for which faults of the first tenant waited for the driver behind a "
                         "fault of the second")
        .per_tenant("fault_service", &S::fault_service, "ns",
                    "time of the driver's handling of a fault")
        .per_tenant("fault_transfer", &S::fault_transfer, "ns",
                    "time from handling to the message to the GMMU: frames, transfer, entries; "
                    "migrated, allocated, remote and permission faults")
        .per_tenant("late_wait", &S::late_wait, "ns",
                    "time for which a fault waited whose page came with the pages of another "
                    "fault, from arrival to the message to the GMMU");
  }
};

}  // namespace lockstep
