#include "jobs/capture/clusters.hpp"

#include "models/dispatch/cluster_places.hpp"

namespace lockstep::capture {

LaunchedCluster cluster_of(const isa::Program& program, const LaunchDescription& how,
                           const GpuParameters& gpu) {
  const auto refused = [](Status status) {
    LaunchedCluster cluster;
    cluster.status = status;
    return cluster;
  };
  const bool is_asked = how.cluster[0] != 0 || how.cluster[1] != 0 || how.cluster[2] != 0;
  const bool is_required = program.required_cluster[0] != 0;
  if (!is_asked && !is_required)
    return refused(program.explicit_cluster ? invalid_cluster_size : success);
  if (!gpu.has_clusters()) return refused(not_supported);
  const isa::ClusterShape asked{how.cluster[0], how.cluster[1], how.cluster[2]};
  LaunchedCluster cluster{success, is_asked ? asked : program.required_cluster, true};
  for (const std::uint32_t extent : cluster.shape)
    if (extent == 0 || extent > isa::ClusterAddress::most_blocks)
      return refused(invalid_cluster_size);
  const std::uint64_t blocks = isa::blocks_of(cluster.shape);
  const std::uint32_t most = how.non_portable_cluster != 0
                                 ? isa::ClusterAddress::most_blocks
                                 : isa::ClusterAddress::most_portable_blocks;
  const bool is_others = is_required && cluster.shape != program.required_cluster;
  const bool is_beyond = program.maximum_cluster != 0 && blocks > program.maximum_cluster;
  if (is_others || is_beyond || blocks > most) return refused(invalid_cluster_size);
  for (int axis = 0; axis < 3; ++axis)
    if (how.blocks[axis] % cluster.shape[axis] != 0) return refused(invalid_configuration);
  return cluster;
}

std::uint64_t active_clusters(const GpuParameters& gpu, std::uint64_t blocks_of_an_sm,
                              std::uint64_t blocks_of_a_cluster) {
  if (!gpu.has_clusters() || blocks_of_a_cluster == 0) return 0;
  const auto any_sm = [](std::uint32_t) { return true; };
  return clusters_that_fit(gpu.topology(), static_cast<std::uint32_t>(blocks_of_a_cluster),
                           static_cast<std::uint32_t>(blocks_of_an_sm), any_sm);
}

}  // namespace lockstep::capture
