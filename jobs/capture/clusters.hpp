/// Thread block clusters of launches, as requested by a program and as offered by the GPU of a
/// configuration.
#pragma once

#include <cstdint>

#include "jobs/capture/protocol.hpp"
#include "models/gpu/machine_parameters.hpp"
#include "models/isa/cluster.hpp"
#include "models/isa/program.hpp"

namespace lockstep::capture {

struct LaunchedCluster {
  Status status = success;  ///< success, or the reason for refusing such a launch
  isa::ClusterShape shape = isa::no_cluster;
  bool is_explicit = false;  ///< the launch or the kernel names a cluster size
};
LaunchedCluster cluster_of(const isa::Program& program, const LaunchDescription& how,
                           const GpuParameters& gpu);

/// Returns the number of clusters of this size that can be on the GPU at once, each within a GPC,
/// if an SM has room for `blocks_of_an_sm` blocks.
std::uint64_t active_clusters(const GpuParameters& gpu, std::uint64_t blocks_of_an_sm,
                              std::uint64_t blocks_of_a_cluster);

}  // namespace lockstep::capture
