/// Clusters of a launch, from its key `cluster` and the directives of its kernel.
/// Source: PTX ISA 8.x, "Cluster Dimension Directives"; CUDA Programming Guide, "Thread Block
/// Clusters" (8 blocks are portable, the grid is a multiple).
#include "models/workload/cluster_shape.hpp"

#include <fmt/format.h>

#include "core/error/error.hpp"
#include "models/isa/text/kernel_title.hpp"

namespace lockstep {
namespace {

using isa::ClusterAddress;
using isa::ClusterShape;

std::string text(const ClusterShape& size) {
  return fmt::format("{} x {} x {}", size[0], size[1], size[2]);
}

ClusterShape wanted(const Step& launch, const Variables& variables) {
  ClusterShape shape = isa::no_cluster;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (launch.cluster[i].given())
      shape[i] = static_cast<std::uint32_t>(
          launch.cluster[i].evaluate_integer(variables, 1, ClusterAddress::most_blocks));
  return shape;
}

class ClusterCheck {
 public:
  ClusterCheck(const isa::Program& kernel, const Step& launch)
      : kernel_(kernel),
        launch_(launch),
        where_(launch.cluster[0].given() ? launch.cluster[0].where() : launch.where) {}

  /// Checks the directives of the kernel: it may be made for clusters other than the launch's
  /// `shape`.
  void directives(const ClusterShape& shape) const {
    const bool is_required = kernel_.required_cluster[0] != 0;
    if (is_required && shape != kernel_.required_cluster)
      fail("requires clusters of " + text(kernel_.required_cluster) + " blocks, got " + text(shape),
           "change `cluster`, or leave it out");
    if (kernel_.maximum_cluster != 0 && isa::blocks_of(shape) > kernel_.maximum_cluster)
      fail(fmt::format("has clusters of at most {} blocks (.maxclusterrank), got {}",
                       kernel_.maximum_cluster, isa::blocks_of(shape)),
           "make the cluster smaller");
  }

  void size(const ClusterShape& shape) const {
    const std::uint64_t blocks = isa::blocks_of(shape);
    if (blocks > ClusterAddress::most_blocks)
      fail(fmt::format("has clusters of {} blocks, the limit is {}", blocks,
                       ClusterAddress::most_blocks),
           "make the cluster smaller");
    if (blocks > ClusterAddress::most_portable_blocks && !launch_.takes_non_portable_cluster)
      fail(fmt::format("has clusters of {} blocks, more than the portable {}", blocks,
                       ClusterAddress::most_portable_blocks),
           "add non_portable_cluster: true to the launch, or make the cluster smaller");
  }

  void fills(const std::array<std::uint32_t, 3>& grid, const ClusterShape& shape) const {
    for (std::size_t i = 0; i < grid.size(); ++i)
      if (grid[i] % shape[i] != 0)
        fail("has a grid of " + text(grid) + " blocks, no multiple of its clusters of " +
                 text(shape),
             "make each extent of `grid` a multiple of that of the cluster");
  }

  [[noreturn]] void lacks_cluster() const {
    fail("is to be launched in clusters (.explicitcluster)",
         "add cluster: [x, y, z] to the launch");
  }

 private:
  [[noreturn]] void fail(const std::string& what, const std::string& advice) const {
    throw UserError(where_, "kernel " + isa::kernel_title(kernel_.name) + " " + what, advice);
  }

  const isa::Program& kernel_;
  const Step& launch_;
  const std::string where_;
};

}  // namespace

void set_cluster(const isa::Program& kernel, const Step& launch, const Variables& variables,
                 LaunchShape& shape) {
  const bool is_asked = launch.cluster[0].given(), is_required = kernel.required_cluster[0] != 0;
  const ClusterCheck check(kernel, launch);
  if (!is_asked && !is_required) {
    if (kernel.explicit_cluster) check.lacks_cluster();
    return;
  }
  shape.is_explicit_cluster = true;
  shape.cluster = is_asked ? wanted(launch, variables) : kernel.required_cluster;
  if (is_asked) check.directives(shape.cluster);
  check.size(shape.cluster);
  check.fills(shape.blocks, shape.cluster);
}

}  // namespace lockstep
