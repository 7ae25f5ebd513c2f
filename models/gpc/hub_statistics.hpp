#pragma once

#include "core/statistics/statistics.hpp"

namespace lockstep {

/// Hub of a GPC.
struct HubStatistics {
  struct OfTenant {
    Counter clusters, accesses, bytes, barriers, refused;
  };
  PerTenant<OfTenant> tenant;
  Gauge clusters_there;

  static auto schema() {
    using S = HubStatistics;
    using T = OfTenant;
    return statistics<S>()
        .per_tenant("clusters", &S::tenant, &T::clusters, "clusters",
                    "clusters of thread blocks that have begun in the GPC")
        .per_tenant("accesses", &S::tenant, &T::accesses, "messages",
                    "messages to shared memory of another block of a cluster")
        .per_tenant("bytes", &S::tenant, &T::bytes, "bytes",
                    "bytes of these accesses and their answers, in whole flits")
        .per_tenant("barriers", &S::tenant, &T::barriers, "barriers",
                    "barriers of clusters that all threads have come to")
        .per_tenant("refused", &S::tenant, &T::refused, "messages",
                    "messages to a block whose threads had ended")
        .gauge("clusters_there", &S::clusters_there, "clusters", "clusters that are in the GPC");
  }
};

}  // namespace lockstep
