#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "models/gpc/hub_statistics.hpp"
#include "models/noc/cluster_messages.hpp"
#include "models/noc/grid_counts.hpp"

namespace lockstep {

/// How many clusters of each grid are in a GPC, and how many find room there, summed over cycles.
///
/// A grid's places count only in cycles in which at least one of its clusters is there.
class ClusterResidency {
 public:
  /// `sms`: SMs of the GPC.
  explicit ClusterResidency(std::uint32_t sms) : sms_(sms) {}

  /// A cluster begins, or returns; `cycle` is the number of the network's cycle, as below.
  void begin(const ClusterBlock& block, std::int64_t cycle, HubStatistics& statistics) {
    count(cycle, statistics);
    OfGrid& grid = of(block);
    ++grid.resident;
  }
  /// A block of the cluster has started on an SM that has room for so many of the grid.
  void has_room(const ClusterBlock& block, std::int64_t cycle, HubStatistics& statistics) {
    count(cycle, statistics);
    of(block).places = std::uint64_t{block.places} * sms_ / block.size;
  }
  void end(std::uint32_t grid, std::int64_t cycle, HubStatistics& statistics) {
    count(cycle, statistics);
    const auto found = std::ranges::find(grids_, grid, &OfGrid::grid);
    --found->resident;
  }
  /// Adds what has passed until this cycle.
  void count(std::int64_t cycle, HubStatistics& statistics) {
    const auto since = static_cast<std::uint64_t>(cycle - std::exchange(counted_, cycle));
    if (since == 0) return;
    for (OfGrid& grid : grids_) {
      if (grid.resident == 0) continue;
      const std::uint64_t resident = since * grid.resident;
      const std::uint64_t places = since * std::max(grid.places, grid.resident);
      grid.untaken.cluster_cycles += resident;
      grid.untaken.cluster_place_cycles += places;
      statistics.tenant[grid.tenant].cluster_cycles += resident;
      statistics.tenant[grid.tenant].cluster_place_cycles += places;
    }
  }
  /// Appends the counts of grids since the last call.
  void take(std::vector<GridContribution>& taken) {
    for (OfGrid& grid : grids_)
      if (grid.untaken.any()) taken.push_back({grid.grid, std::exchange(grid.untaken, {})});
    std::erase_if(grids_, [](const OfGrid& grid) { return grid.resident == 0; });
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(grids_, counted_);
  }

 private:
  struct OfGrid {
    std::uint32_t grid = 0;
    std::uint16_t tenant = 0;
    std::uint64_t resident = 0, places = 0;  ///< clusters
    GridCounts untaken;

    template <class Archive>
    void serialize(Archive& archive) {
      archive(grid, tenant, resident, places, untaken);
    }
  };

  OfGrid& of(const ClusterBlock& block) {
    const auto found = std::ranges::find(grids_, block.grid, &OfGrid::grid);
    if (found != grids_.end()) return *found;
    OfGrid& grid = grids_.emplace_back();
    grid.grid = block.grid;
    grid.tenant = block.tenant;
    return grid;
  }

  const std::uint32_t sms_;
  std::vector<OfGrid> grids_;  ///< in the order of their first clusters
  std::int64_t counted_ = 0;   ///< cycle until which is counted
};

}  // namespace lockstep
