#pragma once

#include "core/statistics/statistics.hpp"

namespace lockstep {

struct DispatchStatistics {
  PerTenant<Counter> grids, blocks, grids_done, blocks_done;
  Gauge grids_waiting;

  static auto schema() {
    using S = DispatchStatistics;
    return statistics<S>()
        .per_tenant("grids", &S::grids, "grids", "launches that reached the dispatcher")
        .per_tenant("grids_done", &S::grids_done, "grids", "grids whose blocks are all done")
        .per_tenant("blocks", &S::blocks, "blocks", "thread blocks sent to SMs")
        .per_tenant("blocks_done", &S::blocks_done, "blocks", "thread blocks finished")
        .gauge("grids_waiting", &S::grids_waiting, "grids", "grids not finished");
  }
};

}  // namespace lockstep
