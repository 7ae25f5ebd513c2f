#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace lockstep {

/// Gives one rank to each group, and the others one by one to the group whose ranks have most load.
/// `weights`: by group, at most as many as there are ranks.  Returns the number of ranks of each
/// group.
inline std::vector<std::size_t> rank_shares(const std::vector<double>& weights, std::size_t ranks) {
  std::vector<std::size_t> shares(weights.size(), 1);
  std::vector<double> loads = weights;  // load of each rank of the group
  for (std::size_t rank = weights.size(); rank < ranks; ++rank) {
    const auto most = std::max_element(loads.begin(), loads.end()) - loads.begin();
    const auto group = static_cast<std::size_t>(most);
    loads[group] = weights[group] / static_cast<double>(++shares[group]);
  }
  return shares;
}

}  // namespace lockstep
