#include "jobs/profile/dealt_ranks.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "jobs/profile/largest_costs.hpp"
#include "partitioner/rank_shares.hpp"

namespace lockstep {
namespace {

/// A GPU, or all of the machine.
struct Share {
  std::vector<std::size_t> members;  ///< components, the costliest first
  double cost = 0;
  std::size_t ranks = 1;
};

double cost_of(const ComponentCostRow& row) {
  return static_cast<double>(row.nanoseconds);
}

/// Returns the GPU of a component: "gpu3" of "gpu3/sm[5]"; "" for components of no GPU.
std::string gpu_of(const std::string& component) {
  const std::size_t end = component.find('/');
  return end == std::string::npos ? "" : component.substr(0, end);
}

class Dealer {
 public:
  Dealer(const std::vector<ComponentCostRow>& components, std::size_t ranks)
      : components_(components), loads_(ranks, 0), home_(components.size(), 0) {}

  void put(std::size_t component, std::size_t rank) {
    home_[component] = static_cast<int>(rank);
    loads_[rank] += cost_of(components_[component]);
  }
  std::size_t least() const {
    return static_cast<std::size_t>(std::min_element(loads_.begin(), loads_.end()) -
                                    loads_.begin());
  }
  void put_whole(const Share& share) {
    const std::size_t rank = least();
    for (const std::size_t component : share.members) put(component, rank);
  }
  /// Spreads components kind by kind, each to the rank with the least load.
  void spread(const Share& share, std::size_t first) {
    std::map<std::string, std::vector<double>> of_kind;
    for (const std::size_t component : share.members) {
      std::vector<double>& kind =
          of_kind.try_emplace(kind_of_component(components_[component].component), share.ranks, 0.0)
              .first->second;
      std::size_t chosen = 0;
      for (std::size_t r = 1; r < share.ranks; ++r)
        if (std::pair(kind[r], loads_[first + r]) < std::pair(kind[chosen], loads_[first + chosen]))
          chosen = r;
      kind[chosen] += cost_of(components_[component]);
      put(component, first + chosen);
    }
  }
  std::vector<int> home() && { return std::move(home_); }

 private:
  const std::vector<ComponentCostRow>& components_;
  std::vector<double> loads_;  ///< load of each rank
  std::vector<int> home_;      ///< home rank of each component
};

bool costs_more(const Share& one, const Share& other) {
  return one.cost > other.cost;
}

/// Deals ranks to shares as the partitioner does.
void deal_ranks(std::vector<Share>& shares, std::size_t ranks) {
  std::vector<double> costs;
  for (const Share& share : shares) costs.push_back(share.cost);
  const std::vector<std::size_t> dealt = rank_shares(costs, ranks);
  for (std::size_t s = 0; s < shares.size(); ++s) shares[s].ranks = dealt[s];
}

}  // namespace

std::size_t gpus_of(const std::vector<ComponentCostRow>& components) {
  std::set<std::string> gpus;
  for (const ComponentCostRow& row : components) gpus.insert(gpu_of(row.component));
  return gpus.size() - gpus.count("");
}

std::vector<int> dealt_to_ranks(const std::vector<ComponentCostRow>& components, int ranks) {
  std::vector<std::size_t> order(components.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return components[a].nanoseconds > components[b].nanoseconds;
  });
  std::map<std::string, Share> by_gpu;
  for (const std::size_t component : order) {
    Share& share = by_gpu[gpu_of(components[component].component)];
    share.members.push_back(component);
    share.cost += cost_of(components[component]);
  }
  Share rest;
  if (const auto all = by_gpu.find(""); all != by_gpu.end() && by_gpu.size() > 1) {
    rest = std::move(all->second);
    by_gpu.erase(all);
  }
  std::vector<Share> shares;
  for (auto& [gpu, share] : by_gpu) shares.push_back(std::move(share));
  std::stable_sort(shares.begin(), shares.end(), costs_more);

  const auto count = static_cast<std::size_t>(ranks);
  Dealer dealer(components, count);
  if (shares.size() > 1 && count <= shares.size()) {
    for (const Share& share : shares) dealer.put_whole(share);
  } else {
    deal_ranks(shares, count);
    std::size_t first = 0;
    for (const Share& share : shares) {
      dealer.spread(share, first);
      first += share.ranks;
    }
  }
  for (const std::size_t component : rest.members) dealer.put(component, dealer.least());
  return std::move(dealer).home();
}

}  // namespace lockstep
