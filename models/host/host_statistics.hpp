#pragma once

#include "core/statistics/statistics.hpp"

namespace lockstep {

struct HostStatistics {
  PerTenant<Counter> bytes_to_gpu, bytes_to_host, transfers, launches, remote_requests;

  static auto schema() {
    using S = HostStatistics;
    return statistics<S>()
        .per_tenant("bytes_to_gpu", &S::bytes_to_gpu, "bytes", "sent over the host link")
        .per_tenant("bytes_to_host", &S::bytes_to_host, "bytes", "received over the host link")
        .per_tenant("transfers", &S::transfers, "transfers", "copies and migrations started")
        .per_tenant("launches", &S::launches, "grids", "kernels launched")
        .per_tenant("remote_requests", &S::remote_requests, "requests",
                    "of SMs to pinned host memory");
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(bytes_to_gpu, bytes_to_host, transfers, launches, remote_requests);
  }
};

}  // namespace lockstep
