#pragma once

#include "core/statistics/statistics.hpp"

namespace lockstep {

/// Port of a GPU.
struct PortStatistics {
  struct OfTenant {
    Counter requests, served, bytes_out, bytes_in, copies, copied_bytes;
    Counter busy_time, wait_out, wait_in, wait_for_tags;
  };
  PerTenant<OfTenant> tenant;
  PerTenantPair out_wait_behind, in_wait_behind;

  static auto schema() {
    using S = PortStatistics;
    using T = OfTenant;
    return statistics<S>()
        .per_tenant("requests", &S::tenant, &T::requests, "requests",
                    "requests of SMs to memory of other GPUs")
        .per_tenant("served", &S::tenant, &T::served, "requests",
                    "requests of other GPUs to memory here, copies among them")
        .per_tenant("bytes_out", &S::tenant, &T::bytes_out, "bytes",
                    "bytes to other GPUs, with headers: requests, answers and copies")
        .per_tenant("bytes_in", &S::tenant, &T::bytes_in, "bytes",
                    "bytes from other GPUs, with headers: requests, answers and copies")
        .per_tenant("copies", &S::tenant, &T::copies, "copies",
                    "copies to other GPUs that have ended")
        .per_tenant("copied_bytes", &S::tenant, &T::copied_bytes, "bytes",
                    "bytes of copies that have reached memory of other GPUs")
        .per_tenant("busy_time", &S::tenant, &T::busy_time, "fs",
                    "time for which ways out were busy; with direct links the sum over the links")
        .per_tenant("wait_out", &S::tenant, &T::wait_out, "fs",
                    "time of waiting for a way out, summed")
        .per_tenant("wait_in", &S::tenant, &T::wait_in, "fs",
                    "time of waiting for the way in from a switch, summed")
        .per_tenant("wait_for_tags", &S::tenant, &T::wait_for_tags, "fs",
                    "time for which requests of SMs waited until a tag was free, summed")
        .per_tenant_pair(
            "out_wait_behind", &S::out_wait_behind, "fs",
            "time for which packets of the first tenant waited while a packet of the second left")
        .per_tenant_pair("in_wait_behind", &S::in_wait_behind, "fs",
                         "time for which packets of the first tenant waited while a packet of the "
                         "second came in");
  }
};

}  // namespace lockstep
