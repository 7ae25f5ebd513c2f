#pragma once

#include "core/statistics/statistics.hpp"

namespace lockstep {

/// One direction of the host link.
struct LinkStatistics {
  PerTenant<Counter> bytes, transfers, busy_time, queue_time;

  static auto schema() {
    using S = LinkStatistics;
    return statistics<S>()
        .per_tenant("bytes", &S::bytes, "bytes",
                    "sent; instance 0 is the direction to the host, 1 the one to the GPU")
        .per_tenant("transfers", &S::transfers, "transfers",
                    "copies and migrations whose last line was sent")
        .per_tenant("busy_time", &S::busy_time, "fs", "the wire was taken")
        .per_tenant("queue_time", &S::queue_time, "fs",
                    "transfers and answers to remote requests were ready and had to wait for their "
                    "first turn, summed");
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(bytes, transfers, busy_time, queue_time);
  }
};

}  // namespace lockstep
