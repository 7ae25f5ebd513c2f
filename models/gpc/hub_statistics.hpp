#pragma once

#include "core/statistics/statistics.hpp"

namespace lockstep {

/// Hub of a GPC.
struct HubStatistics {
  struct OfTenant {
    Counter clusters, accesses, bytes, barriers, refused;
    Counter saved, flushed, kept, cluster_cycles, cluster_place_cycles;
  };
  PerTenant<OfTenant> tenant;
  Gauge clusters_there;

  static auto schema() {
    using S = HubStatistics;
    using T = OfTenant;
    return statistics<S>()
        .per_tenant("clusters", &S::tenant, &T::clusters, "clusters",
                    "clusters of thread blocks that began in the GPC, or returned to it")
        .per_tenant("accesses", &S::tenant, &T::accesses, "messages",
                    "messages to shared memory of another block of a cluster")
        .per_tenant("bytes", &S::tenant, &T::bytes, "bytes",
                    "bytes of these accesses and their answers, in whole flits")
        .per_tenant("barriers", &S::tenant, &T::barriers, "barriers",
                    "barriers of clusters that all threads have come to")
        .per_tenant("refused", &S::tenant, &T::refused, "messages",
                    "messages to a block whose threads had ended")
        .per_tenant("saved", &S::tenant, &T::saved, "clusters",
                    "clusters whose blocks left their SMs together, their contexts in memory")
        .per_tenant("flushed", &S::tenant, &T::flushed, "clusters",
                    "clusters whose blocks were dropped together, to start again")
        .per_tenant("kept", &S::tenant, &T::kept, "clusters",
                    "clusters that stopped to leave and went on, because they could neither be "
                    "flushed nor saved")
        .per_tenant(
            "cluster_cycles", &S::tenant, &T::cluster_cycles, "cycles",
            "cycles of the network for which clusters of the tenant were in the GPC, summed over "
            "clusters: divided by the cycles of a run, the mean number of clusters")
        .per_tenant("cluster_place_cycles", &S::tenant, &T::cluster_place_cycles, "cycles",
                    "clusters of a grid that the GPC has room for at once, summed over the cycles "
                    "in which any cluster of the grid is there, and over grids: cluster_cycles "
                    "over cluster_place_cycles is cluster occupancy")
        .gauge("clusters_there", &S::clusters_there, "clusters", "clusters that are in the GPC");
  }
};

}  // namespace lockstep
