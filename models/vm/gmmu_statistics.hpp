#pragma once

#include <array>

#include "core/statistics/statistics.hpp"
#include "models/vm/lost_entries.hpp"

namespace lockstep {

/// Counters of the GMMU.
struct GmmuStatistics {
  PerTenant<Counter> requests, tlb_hits, tlb_misses, merged, walks, walks_restarted, walk_reads,
      walk_cache_hits, walk_cache_misses, walk_cycles, walk_queue_cycles, refusals, far_faults,
      coalesced, permission_faults, replays, invalid, pages_written, pages_unmapped, shootdowns,
      flushes, entries_dropped, mshr_stalls, far_fault_stalls, far_fault_cycles, local_handlers,
      local_refused, local_handler_cycles;
  PerTenant<std::array<Counter, std::size(tlb_loss_names)>> tlb_lost_misses;
  PerTenant<Counter> tlb_port_cycles, mshr_stall_cycles;
  PerTenantPair tlb_port_wait_behind, mshr_wait_behind, walker_wait_behind, tlb_evicted_by;
  PerTenant<Histogram<20>> walk_latency, replay_latency;
  PerTenant<Gauge> far_faults_waiting;
  Gauge far_faults_most, local_handlers_most;

  static auto schema() {
    using S = GmmuStatistics;
    return statistics<S>()
        .per_tenant("requests", &S::requests, "requests", "translations that SMs asked for")
        .per_tenant("tlb_hits", &S::tlb_hits, "requests",
                    "requests answered by the second-level TLB")
        .per_tenant("tlb_misses", &S::tlb_misses, "requests",
                    "requests not in the second-level TLB")
        .per_tenant("tlb_lost_misses", &S::tlb_lost_misses, tlb_loss_names, "requests",
                    "first misses of the second-level TLB on pages whose entry was flushed, since "
                    "other pages came, or shot down, since the page left")
        .per_tenant("merged", &S::merged, "requests",
                    "requests for a page with a walk already under way")
        .per_tenant("walks", &S::walks, "walks", "walks that began, also walks for dirty bits")
        .per_tenant("walks_restarted", &S::walks_restarted, "walks",
                    "walks begun again because their page was being unmapped")
        .per_tenant("walk_reads", &S::walk_reads, "reads", "reads of page table entries in memory")
        .per_tenant("walk_cache_hits", &S::walk_cache_hits, "entries",
                    "entries that a walk found in the walk cache")
        .per_tenant("walk_cache_misses", &S::walk_cache_misses, "entries",
                    "entries that a walk did not find in the walk cache")
        .per_tenant("walk_cycles", &S::walk_cycles, "cycles",
                    "time for which walkers were busy, summed")
        .per_tenant("walk_queue_cycles", &S::walk_queue_cycles, "cycles",
                    "time for which walks waited for a walker, summed")
        .per_tenant(
            "refusals", &S::refusals, "requests",
            "requests answered with Nack-Replayable: the page is absent or must not be written")
        .per_tenant("far_faults", &S::far_faults, "pages", "far-faults that the host was told of")
        .per_tenant("coalesced", &S::coalesced, "requests",
                    "refusals for a page that the host knew of already")
        .per_tenant("permission_faults", &S::permission_faults, "pages",
                    "far-faults of stores to present pages")
        .per_tenant(
            "replays", &S::replays, "replays",
            "messages to SMs that a page has come; with broadcast, only to SMs that waited for it")
        .per_tenant("invalid", &S::invalid, "requests", "accesses outside of every buffer")
        .per_tenant("pages_written", &S::pages_written, "notices",
                    "first stores of SMs under an entry")
        .per_tenant("pages_unmapped", &S::pages_unmapped, "pages", "pages taken from all TLBs")
        .per_tenant("shootdowns", &S::shootdowns, "messages",
                    "messages to SMs, each for a range of pages")
        .per_tenant("flushes", &S::flushes, "messages",
                    "messages to SMs when a page had come or went")
        .per_tenant("entries_dropped", &S::entries_dropped, "entries",
                    "entries of the GMMU that were dropped because of this tenant's pages")
        .per_tenant("tlb_port_cycles", &S::tlb_port_cycles, "cycles",
                    "time for which requests waited for a port of the second-level TLB, summed")
        .per_tenant("mshr_stall_cycles", &S::mshr_stall_cycles, "cycles",
                    "time for which misses waited for an MSHR, summed")
        .per_tenant_pair("tlb_port_wait_behind", &S::tlb_port_wait_behind, "cycles",
                         "time for which requests of the first tenant waited for a port, right "
                         "behind a lookup of the second")
        .per_tenant_pair("mshr_wait_behind", &S::mshr_wait_behind, "cycles",
                         "time for which misses of the first tenant waited until a walk of the "
                         "second released its MSHR")
        .per_tenant_pair(
            "tlb_evicted_by", &S::tlb_evicted_by, "entries",
            "entries of the first tenant that left the second-level TLB for an entry of the second")
        .per_tenant_pair("walker_wait_behind", &S::walker_wait_behind, "cycles",
                         "time for which walks of the first tenant waited until a walk of the "
                         "second released its walker")
        .per_tenant("mshr_stalls", &S::mshr_stalls, "lookups",
                    "lookups that missed when all MSHRs were taken")
        .per_tenant("far_fault_stalls", &S::far_fault_stalls, "requests",
                    "requests for absent pages when all far-fault MSHRs were taken; each begins "
                    "another walk later, which counts as no further TLB hit or miss")
        .per_tenant("far_fault_cycles", &S::far_fault_cycles, "page cycles",
                    "cycles of pages in far-fault MSHRs, summed over pages: divided by the cycles, "
                    "the mean use of these MSHRs")
        .per_tenant("walk_latency", &S::walk_latency, "cycles",
                    "cycles from the miss to the end of the walk")
        .per_tenant(
            "replay_latency", &S::replay_latency, "cycles",
            "cycles from the message that a page has come to the end of its last replay, by page")
        .per_tenant("far_faults_waiting", &S::far_faults_waiting, "pages",
                    "pages in far-fault MSHRs: the host has been told of them")
        .gauge("far_faults_most", &S::far_faults_most, "pages",
               "pages in far-fault MSHRs at once, of all tenants, until now")
        .per_tenant("local_handlers", &S::local_handlers, "handlers",
                    "handlers of untouched pages that the GPU began by itself, each for a granule")
        .per_tenant("local_refused", &S::local_refused, "pages",
                    "untouched pages that the host was told of, since no zeroed frames were left")
        .per_tenant("local_handler_cycles", &S::local_handler_cycles, "handler cycles",
                    "cycles from fault to replay, summed over handlers")
        .gauge("local_handlers_most", &S::local_handlers_most, "handlers",
               "handlers of untouched pages at once, of all tenants, until now");
  }
};

}  // namespace lockstep
