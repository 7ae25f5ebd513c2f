/// SMs that stand together, and SMs and partitions that stand near each other.
///
/// SMs are in clusters (NVIDIA: GPCs) of neighbouring numbers, as equal as they can be.  SMs and
/// partitions are in two halves: the first half of the SMs stands at the first half of the
/// partitions.
/// Source: own choice, of which numbers stand together; the halves: l2_halves.hpp.
#pragma once

#include <cstdint>

#include "core/error/error.hpp"
#include "models/noc/ids.hpp"

namespace lockstep {

class Topology {
 public:
  struct Counts {
    std::uint32_t sms = 1, partitions = 1, clusters = 1;
  };

  Topology() = default;
  explicit Topology(const Counts& counts) : counts_(counts) {
    LOCKSTEP_CHECK(counts.sms > 0 && counts.partitions > 0 && counts.clusters > 0,
                   "a GPU without SMs, partitions or clusters");
  }

  std::uint32_t sms() const { return counts_.sms; }
  std::uint32_t partitions() const { return counts_.partitions; }
  std::uint32_t clusters() const { return counts_.clusters; }

  /// Returns the cluster of an SM; clusters beyond the number of SMs have none.
  std::uint32_t cluster_of(SmId sm) const {
    return static_cast<std::uint32_t>(std::uint64_t{sm.value()} * counts_.clusters / counts_.sms);
  }
  /// Returns the first SM of a cluster; the one of `cluster + 1` is the end of its SMs.
  SmId first_sm(std::uint32_t cluster) const {
    const std::uint64_t scaled = std::uint64_t{cluster} * counts_.sms + counts_.clusters - 1;
    return SmId{static_cast<std::uint16_t>(scaled / counts_.clusters)};
  }

  bool in_second_half(SmId sm) const { return 2u * sm.value() >= counts_.sms; }
  bool in_second_half(PartitionId partition) const {
    return 2u * partition.value() >= counts_.partitions;
  }

 private:
  Counts counts_;
};

}  // namespace lockstep
