#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "models/noc/grid_counts.hpp"
#include "models/noc/grid_messages.hpp"
#include "models/noc/ids.hpp"

namespace lockstep {

/// Growth of a tenant's counters while each of its grids runs, for components that know only
/// tenants.
class GridIntervals {
 public:
  /// `counts`: present values of the tenant's counters.
  void begin(const GridMark& mark, const GridCounts& counts) { running_.push_back({mark, counts}); }
  void end(const GridMark& mark, const GridCounts& counts) {
    for (auto interval = running_.begin(); interval != running_.end(); ++interval) {
      if (interval->mark.grid != mark.grid) continue;
      GridContribution grown{mark.grid, counts};
      grown.counts -= interval->since;
      if (grown.counts.any()) ended_.push_back(grown);
      running_.erase(interval);
      return;
    }
  }
  /// Takes counts as GridCounter does; `counts_of(tenant)`: counters of a tenant.
  template <class CountsOf>
  void take(const CountsOf& counts_of, std::vector<GridContribution>& taken) {
    for (const GridContribution& grown : std::exchange(ended_, {})) taken.push_back(grown);
    for (Interval& interval : running_) {
      const GridCounts now = counts_of(interval.mark.tenant);
      GridContribution grown{interval.mark.grid, now};
      grown.counts -= std::exchange(interval.since, now);
      if (grown.counts.any()) taken.push_back(grown);
    }
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(running_, ended_);
  }

 private:
  struct Interval {
    GridMark mark;
    GridCounts since;  ///< values of the counters at the begin, or when last taken

    template <class Archive>
    void serialize(Archive& archive) {
      archive(mark, since);
    }
  };

  std::vector<Interval> running_;
  std::vector<GridContribution> ended_;
};

}  // namespace lockstep
