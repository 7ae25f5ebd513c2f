#pragma once

#include <array>

#include "core/statistics/statistics.hpp"

namespace lockstep {

/// Counters of one direction of the host link.
struct LinkStatistics {
  /// Transfer::Class, then remote accesses.
  static constexpr std::size_t classes = 4, remote = 3;
  PerTenant<std::array<Counter, classes>> bytes, transfers, busy_time, queue_time;
  PerTenantPair wait_behind;
  PerTenant<Histogram<24>> sizes;
  PerTenant<Gauge> longest_fault_wait;

  static auto schema() {
    using S = LinkStatistics;
    constexpr const char* names[] = {"fault", "prefetch", "copy", "remote"};
    return statistics<S>()
        .per_tenant("bytes", &S::bytes, names, "bytes",
                    "bytes that were sent; instance 0 is the direction to the host, and 1 the "
                    "direction to the GPU")
        .per_tenant("transfers", &S::transfers, names, "transfers",
                    "transfers whose last line was sent; remote: requests or answers with data")
        .per_tenant("busy_time", &S::busy_time, names, "fs",
                    "time for which the direction was busy")
        .per_tenant("queue_time", &S::queue_time, names, "fs",
                    "time of waiting for the first turn, summed")
        .per_tenant_pair(
            "wait_behind", &S::wait_behind, "fs",
            "time for which transfers and remote accesses of the first tenant waited for their "
            "first turn while a transfer or remote access of the second held the direction")
        .per_tenant("sizes", &S::sizes, "KiB", "sizes of transfers whose last line was sent")
        .per_tenant("longest_fault_wait", &S::longest_fault_wait, "fs",
                    "longest time until now between the request and the first turn of a transfer "
                    "that an access waited for");
  }
};

}  // namespace lockstep
