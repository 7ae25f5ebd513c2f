#pragma once

#include <array>

#include "core/statistics/statistics.hpp"

namespace lockstep {

enum class BankStall : std::uint8_t { mshrs, merges, dram_queue, responses };

/// Counters of a memory partition.
struct PartitionStatistics {
  /// Counters of one tenant, side by side.
  struct OfTenant {
    Counter requests, sector_hits, sector_misses, merged_sectors, store_sectors, atomic_lanes,
        bypasses, dirty_lookups, writebacks, bytes_in, bytes_out, port_cycles, queue_cycles,
        response_cycles;
    Counter dram_reads, dram_writes, row_hits, row_misses, dram_queue_cycles, outstanding_cycles,
        bank_cycles;
  };
  PerTenant<OfTenant> tenant;
  PerTenantPair port_wait_behind, response_wait_behind, l2_wait_behind, dram_wait_behind,
      evicted_by;
  Histogram<16> queue_latency, dram_latency;
  std::array<Counter, 4> bank_stalls;
  Counter activates, precharges, data_bus_cycles;

  static auto schema() {
    using S = PartitionStatistics;
    using T = OfTenant;
    return statistics<S>()
        .per_tenant("requests", &S::tenant, &T::requests, "requests",
                    "requests of SMs and host for sectors of a line")
        .per_tenant("sector_hits", &S::tenant, &T::sector_hits, "sectors",
                    "loads and atomics served by the L2 without DRAM")
        .per_tenant("sector_misses", &S::tenant, &T::sector_misses, "sectors",
                    "loads and atomics that waited for DRAM")
        .per_tenant("merged_sectors", &S::tenant, &T::merged_sectors, "sectors",
                    "misses whose sector was on its way already")
        .per_tenant("store_sectors", &S::tenant, &T::store_sectors, "sectors",
                    "sectors that stores wrote")
        .per_tenant("atomic_lanes", &S::tenant, &T::atomic_lanes, "lanes",
                    "atomic operations executed")
        .per_tenant("bypasses", &S::tenant, &T::bypasses, "requests", "requests sent past the L2")
        .per_tenant("dirty_lookups", &S::tenant, &T::dirty_lookups, "requests",
                    "loads that were not sent past the L2 because it held newer bytes than DRAM")
        .per_tenant("writebacks", &S::tenant, &T::writebacks, "sectors",
                    "dirty sectors that evictions sent to DRAM")
        .per_tenant("bytes_in", &S::tenant, &T::bytes_in, "bytes", "data that came with requests")
        .per_tenant("bytes_out", &S::tenant, &T::bytes_out, "bytes", "data that left with answers")
        .per_tenant("port_cycles", &S::tenant, &T::port_cycles, "cycles",
                    "cycles from arrival at the port to a place in a bank's queue or the DRAM "
                    "queue, summed")
        .per_tenant("response_cycles", &S::tenant, &T::response_cycles, "cycles",
                    "time for which answers waited for the port to the network, summed")
        .per_tenant("queue_cycles", &S::tenant, &T::queue_cycles, "cycles",
                    "cycles from arrival at the port to the start of bank service, summed")
        .per_tenant("dram_reads", &S::tenant, &T::dram_reads, "columns", "read commands")
        .per_tenant("dram_writes", &S::tenant, &T::dram_writes, "columns", "write commands")
        .per_tenant("row_hits", &S::tenant, &T::row_hits, "requests",
                    "DRAM requests that found their row open")
        .per_tenant("row_misses", &S::tenant, &T::row_misses, "requests",
                    "DRAM requests for which a row was opened")
        .per_tenant("dram_queue_cycles", &S::tenant, &T::dram_queue_cycles, "cycles",
                    "DRAM cycles from arrival to the last column command, summed")
        .per_tenant("outstanding_cycles", &S::tenant, &T::outstanding_cycles, "cycles",
                    "DRAM cycles in which requests of the tenant were in a channel's queue, summed "
                    "over channels; counted on machines with CPU cores")
        .per_tenant("bank_cycles", &S::tenant, &T::bank_cycles, "cycles",
                    "DRAM cycles, summed over the banks for which requests of the tenant were in a "
                    "channel's queue: over outstanding_cycles, the bank parallelism in a channel")
        .per_tenant_pair("port_wait_behind", &S::port_wait_behind, "cycles",
                         "time for which requests of the first tenant waited at the port when a "
                         "request of the second entered last")
        .per_tenant_pair("response_wait_behind", &S::response_wait_behind, "cycles",
                         "time for which answers to the first tenant waited for the port to the "
                         "network, right behind an answer to the second")
        .per_tenant_pair("l2_wait_behind", &S::l2_wait_behind, "cycles",
                         "time for which requests of the first tenant waited at an L2 bank while a "
                         "request of the second held the bank")
        .per_tenant_pair("dram_wait_behind", &S::dram_wait_behind, "cycles",
                         "DRAM cycles for which requests of the first tenant waited while the "
                         "channel served the second")
        .per_tenant_pair("evicted_by", &S::evicted_by, "lines",
                         "lines of the first tenant that left the L2 for a line of the second")
        .histogram("queue_latency", &S::queue_latency, "cycles",
                   "cycles from arrival at the port to the start of bank service")
        .histogram("dram_latency", &S::dram_latency, "cycles",
                   "DRAM cycles from arrival to the last column command")
        .counters(
            "bank_stalls", &S::bank_stalls, {"mshrs", "merges", "dram_queue", "responses"},
            "cycles",
            "cycles in which the head of a bank's queue waited, by the thing that it waited for")
        .counter("activates", &S::activates, "commands", "rows opened")
        .counter("precharges", &S::precharges, "commands", "rows closed by command")
        .counter("data_bus_cycles", &S::data_bus_cycles, "cycles",
                 "DRAM cycles in which the data bus was taken");
  }

  void stall(BankStall cause, std::int64_t cycles) {
    bank_stalls[static_cast<std::size_t>(cause)] += static_cast<std::uint64_t>(cycles);
  }
};

}  // namespace lockstep
