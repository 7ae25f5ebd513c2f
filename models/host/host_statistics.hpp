#pragma once

#include "core/statistics/statistics.hpp"

namespace lockstep {

struct HostStatistics {
  PerTenant<Counter> launches, remote_requests;

  static auto schema() {
    using S = HostStatistics;
    return statistics<S>()
        .per_tenant("launches", &S::launches, "grids", "kernels launched")
        .per_tenant("remote_requests", &S::remote_requests, "requests",
                    "of SMs to pinned host memory");
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(launches, remote_requests);
  }
};

}  // namespace lockstep
