/// An L2 in two halves, each with the SMs that stand there (noc/topology.hpp).
///
/// A line has its home in one half, whose slices order all accesses to it. A load from the other
/// half crosses a link and leaves a copy in that half; the copy answers the next loads there
/// without crossing. A store or atomic crosses to the home, and takes the copy away. Source:
/// gpu-benches, cuda-latency on an A100: 213 cycles up to 20 of 40 MiB, 426 between 30 and 38 MiB,
/// where half of the lines are in the far half (283) and half in memory (570). NVIDIA's description
/// of that GPU says that each half keeps the data that its own SMs ask for.
///
/// Simplified: a request takes both ways across before it enters its partition, and reads the bytes
/// of its home partition there.  Copies stand in the home's slice, where they take the room that
/// they would take in the slice opposite: with accesses spread evenly both are the same.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/memory/ring.hpp"
#include "models/memory/l2_clock.hpp"
#include "models/noc/half_parameters.hpp"
#include "models/noc/messages.hpp"
#include "models/noc/port.hpp"
#include "models/noc/topology.hpp"

namespace lockstep {

class L2Halves {
 public:
  L2Halves(const HalfParameters& parameters, const Topology& topology, PartitionId partition)
      : latency_(2 * parameters.crossing_latency.count()),
        topology_(topology),
        in_second_(topology.in_second_half(partition)),
        link_(parameters.crossing_rate) {}

  bool are_apart() const { return latency_ > 0; }
  /// Returns whether the request comes from the half that this partition is not in.
  bool is_far(const MemoryRequest& request) const {
    return request.source == SourceKind::sm &&
           topology_.in_second_half(SmId{request.requester}) != in_second_;
  }
  /// Lets the transaction cross with `flits` flits of data, there or back.
  void cross(std::uint32_t transaction, std::uint32_t flits, L2Cycle now) {
    crossing_.push({L2Cycle{link_.reserve(now.value(), flits) + latency_}, transaction});
  }
  /// Returns when the next request is on this side.
  L2Cycle next() const { return crossing_.empty() ? L2Cycle::never() : crossing_.front().cycle; }
  std::uint32_t take() {
    const std::uint32_t transaction = crossing_.front().transaction;
    crossing_.pop();
    return transaction;
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(link_, crossing_);
  }

 private:
  struct Crossing {
    L2Cycle cycle;
    std::uint32_t transaction = 0;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(cycle, transaction);
    }
  };

  const std::int64_t latency_;  ///< cycles for the way there and back
  const Topology topology_;
  const bool in_second_;
  SendPort link_;
  Ring<Crossing> crossing_;
};

}  // namespace lockstep
