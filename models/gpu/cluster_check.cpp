#include "models/gpu/cluster_check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error/error.hpp"
#include "models/dispatch/cluster_places.hpp"
#include "models/gpu/launch_check.hpp"
#include "models/isa/cluster.hpp"
#include "models/isa/text/kernel_title.hpp"

namespace lockstep {

bool check_clusters(const Workload& workload, const isa::Module& module,
                    const OccupancyLimits& limits, const GpuParameters& gpu,
                    const std::function<bool(std::uint32_t)>& may_have) {
  bool any = false;
  const Topology topology = gpu.topology();
  for_each_launch(
      workload, module, limits,
      [&](const Step& step, std::size_t index, const LaunchShape& shape,
          const BlockResources& block) {
        const isa::Program& kernel = module.kernels[index].lowered;
        const std::string title = "kernel " + isa::kernel_title(kernel.name);
        const auto blocks = static_cast<std::uint32_t>(isa::blocks_of(shape.cluster));
        if (shape.is_explicit_cluster && !gpu.has_clusters())
          throw UserError(step.where,
                          title +
                              " is launched in clusters, which a GPU has from compute "
                              "capability 9.0 on: the simulated one has none",
                          "simulate a GPU like H100 (9.0), or launch without them");
        if (blocks <= 1) return;
        any = true;
        if (module.meets_grid_wide(kernel))
          throw UserError(step.where,
                          title +
                              " meets at a grid-wide barrier and is launched in clusters, "
                              "which cannot be done together",
                          "launch it without clusters");
        if (gpu.sm.shared.bytes_per_block.count() > isa::ClusterAddress::block_bytes)
          throw UserError(step.where,
                          fmt::format("{} is launched in clusters, whose blocks have at most {} "
                                      "bytes of shared memory, and gpu.sm.shared.bytes_per_block "
                                      "is {}",
                                      title, isa::ClusterAddress::block_bytes,
                                      gpu.sm.shared.bytes_per_block.count()),
                          "lower gpu.sm.shared.bytes_per_block");
        const std::uint32_t on_one = blocks_per_sm(block, limits);
        if (on_one == 0 || clusters_that_fit(topology, blocks, on_one, may_have) > 0) return;
        throw UserError(
            step.where,
            fmt::format(
                "{} is launched in clusters of {} blocks, which stand in one GPC, and no GPC "
                "has room for more than {}",
                title, blocks, most_blocks_in_a_gpc(topology, on_one, may_have)),
            "make the cluster, or what a block needs, smaller, or let the tenant have more SMs of "
            "one GPC");
      });
  return any;
}

}  // namespace lockstep
