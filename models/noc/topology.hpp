/// Clusters of SMs, and distances between SMs and partitions.
///
/// SMs with neighbouring numbers form clusters (NVIDIA: GPCs), as equal as possible or with sizes
/// from a list.  Two neighbours of a cluster, from its first SM on, are a pair (NVIDIA: a TPC). SMs
/// and partitions are in two halves: the first half of the SMs is near the first half of the
/// partitions.
/// Source: own choice, of which numbers stand together; the halves: l2_halves.hpp; the pairs:
/// modern-isa.md, section 4.2.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/error/error.hpp"
#include "models/noc/ids.hpp"

namespace lockstep {

class Topology {
 public:
  struct Counts {
    std::uint32_t sms = 1, partitions = 1, clusters = 1;
    std::vector<std::uint32_t> gpcs = {};  ///< SMs of each cluster; empty: `clusters` equal ones
  };

  Topology() : Topology(Counts{}) {}
  explicit Topology(const Counts& counts) : sms_(counts.sms), partitions_(counts.partitions) {
    LOCKSTEP_CHECK(counts.sms > 0 && counts.partitions > 0 && counts.clusters > 0,
                   "a GPU without SMs, partitions or clusters");
    first_.push_back(0);
    for (const std::uint32_t sms : counts.gpcs) first_.push_back(first_.back() + sms);
    for (std::uint64_t c = 1; counts.gpcs.empty() && c <= counts.clusters; ++c)
      first_.push_back(
          static_cast<std::uint32_t>((c * counts.sms + counts.clusters - 1) / counts.clusters));
    LOCKSTEP_CHECK(first_.back() == counts.sms, "the clusters have other SMs than the GPU");
  }

  std::uint32_t sms() const { return sms_; }
  std::uint32_t partitions() const { return partitions_; }
  std::uint32_t clusters() const { return static_cast<std::uint32_t>(first_.size() - 1); }

  /// Returns the cluster of an SM; clusters beyond the number of SMs have none.
  std::uint32_t cluster_of(SmId sm) const {
    const auto next = std::upper_bound(first_.begin(), first_.end(), std::uint32_t{sm.value()});
    return static_cast<std::uint32_t>(next - first_.begin() - 1);
  }
  /// Returns the first SM of a cluster; that of `cluster + 1` is the end.
  SmId first_sm(std::uint32_t cluster) const {
    return SmId{static_cast<std::uint16_t>(first_[cluster])};
  }

  bool in_second_half(SmId sm) const { return 2u * sm.value() >= sms_; }
  bool in_second_half(PartitionId partition) const { return 2u * partition.value() >= partitions_; }

 private:
  std::uint32_t sms_ = 1, partitions_ = 1;
  std::vector<std::uint32_t> first_;  ///< first SM of each cluster, with an end entry
};

}  // namespace lockstep
