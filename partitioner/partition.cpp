#include <metis.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/error/error.hpp"
#include "core/random/random.hpp"
#include "partitioner/fair_turns.hpp"
#include "partitioner/partitioner.hpp"
#include "partitioner/rank_shares.hpp"

namespace lockstep {
namespace {

/// Loads within this share of the mean count as balanced: smaller differences are noise of the
/// weights.
constexpr double tolerated_imbalance = 0.01;

/// How much larger cut and load may become where measured weights are dealt out.
constexpr double tolerated_for_mixing = 0.05;

constexpr std::uint32_t random_assignment_purpose = 0x70617274;

/// The graph without directions: neighbours of each component, with the cost of a cut between them.
using Neighbours = std::vector<std::map<std::size_t, double>>;

/// Returns the neighbours.  A link costs its traffic, and more the shorter it is: a short link
/// between ranks makes them meet often.
Neighbours neighbours_of(const Graph& graph) {
  Time longest = Time::zero();
  for (const Graph::Edge& edge : graph.edges()) longest = std::max(longest, edge.latency);
  Neighbours result(graph.nodes().size());
  for (const Graph::Edge& edge : graph.edges()) {
    const std::size_t a = edge.source.value(), b = edge.destination.value();
    if (a == b) continue;
    const double ratio = double(longest.femtoseconds()) / double(edge.latency.femtoseconds());
    const double cost = edge.weight * std::min(ratio, 100.0);
    result[a][b] += cost;
    result[b][a] += cost;
  }
  return result;
}

/// Returns whole numbers from 1 on in proportion to `values`; their sum stays far below the limit
/// of METIS' 32 bits.
std::vector<idx_t> scaled(const std::vector<double>& values) {
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  const double factor = sum > 0 ? 1e8 / sum : 0;
  std::vector<idx_t> result;
  result.reserve(values.size());
  for (const double value : values) {
    result.push_back(std::max<idx_t>(1, idx_t(std::lround(value * factor))));
  }
  return result;
}

std::vector<int> metis_ranks(const Neighbours& neighbours, const std::vector<double>& weights,
                             int ranks) {
  std::vector<idx_t> starts{0}, adjacent;
  std::vector<double> costs;
  for (const auto& list : neighbours) {
    for (const auto& [other, cost] : list) {
      adjacent.push_back(idx_t(other));
      costs.push_back(cost);
    }
    starts.push_back(idx_t(adjacent.size()));
  }
  std::vector<idx_t> vertex_weights = scaled(weights), edge_weights = scaled(costs);
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;  // every rank gets the same cut
  options[METIS_OPTION_NUMBERING] = 0;
  idx_t vertices = idx_t(weights.size()), constraints = 1, parts = ranks, cut = 0;
  std::vector<idx_t> part(weights.size(), 0);
  // METIS' manual recommends recursive bisection for few parts.
  const auto run = ranks <= 8 ? METIS_PartGraphRecursive : METIS_PartGraphKway;
  const int status =
      run(&vertices, &constraints, starts.data(), adjacent.data(), vertex_weights.data(), nullptr,
          edge_weights.data(), &parts, nullptr, nullptr, options, &cut, part.data());
  LOCKSTEP_CHECK(status == METIS_OK, "METIS failed");
  return {part.begin(), part.end()};
}

/// Balances the cut of METIS, which leaves small graphs unbalanced, or ranks empty.  It moves
/// components from the most loaded rank to the least loaded one as long as that lowers the larger
/// of the two loads, the cheapest cut first.  Components without weight stay in place.
class Balancer {
 public:
  Balancer(const Neighbours& neighbours, const std::vector<double>& weights, int ranks,
           std::vector<int>& rank_of)
      : neighbours_(neighbours), weights_(weights), rank_of_(rank_of) {
    loads_.assign(std::size_t(ranks), 0);
    counts_.assign(std::size_t(ranks), 0);
    for (std::size_t id = 0; id < rank_of_.size(); ++id) {
      loads_[std::size_t(rank_of_[id])] += weights_[id];
      ++counts_[std::size_t(rank_of_[id])];
    }
  }

  void fill_empty_ranks() {
    for (std::size_t rank = 0; rank < counts_.size(); ++rank) {
      if (counts_[rank] > 0) continue;
      const auto most = std::max_element(counts_.begin(), counts_.end());
      move(best(std::size_t(most - counts_.begin()), rank, -1), rank);
    }
  }

  void balance() {
    const double mean = std::accumulate(loads_.begin(), loads_.end(), 0.0) / double(loads_.size());
    for (std::size_t moves = 0; moves < rank_of_.size(); ++moves) {
      const std::size_t heavy =
          std::size_t(std::max_element(loads_.begin(), loads_.end()) - loads_.begin());
      const std::size_t light =
          std::size_t(std::min_element(loads_.begin(), loads_.end()) - loads_.begin());
      if (loads_[heavy] <= mean * (1 + tolerated_imbalance)) return;
      const std::size_t chosen = best(heavy, light, loads_[heavy] - loads_[light]);
      if (chosen == rank_of_.size()) return;
      move(chosen, light);
    }
  }

 private:
  /// Returns the component of `from` that is lighter than `below` (any if negative) and cuts least
  /// when moved to `to`; none: the number of components.
  std::size_t best(std::size_t from, std::size_t to, double below) const {
    std::size_t chosen = rank_of_.size();
    double least = 0;
    if (counts_[from] < 2) return chosen;
    for (std::size_t id = 0; id < rank_of_.size(); ++id) {
      if (rank_of_[id] != int(from) ||
          (below >= 0 && !(weights_[id] > 0 && weights_[id] < below))) {
        continue;
      }
      double cost = 0;
      for (const auto& [other, edge] : neighbours_[id]) {
        if (rank_of_[other] == int(from)) cost += edge;
        if (rank_of_[other] == int(to)) cost -= edge;
      }
      if (chosen == rank_of_.size() || cost < least) {
        chosen = id;
        least = cost;
      }
    }
    return chosen;
  }

  void move(std::size_t id, std::size_t to) {
    const auto from = std::size_t(rank_of_[id]);
    loads_[from] -= weights_[id];
    loads_[to] += weights_[id];
    --counts_[from];
    ++counts_[to];
    rank_of_[id] = int(to);
  }

  const Neighbours& neighbours_;
  const std::vector<double>& weights_;
  std::vector<int>& rank_of_;
  std::vector<double> loads_;
  std::vector<std::size_t> counts_;
};

/// Balances each kind: components of a kind mostly work in the same windows, so ranks wait for each
/// other if one has more SMs and fewer memory partitions.
void balance_kinds(const Graph& graph, const Neighbours& neighbours,
                   const std::vector<double>& weights, int ranks, std::vector<int>& rank_of) {
  for (std::uint32_t kind = 0; kind < graph.kinds().size(); ++kind) {
    std::vector<double> of_kind(weights.size(), 0);
    for (std::size_t id = 0; id < weights.size(); ++id)
      if (graph.nodes()[id].kind.value() == kind) of_kind[id] = weights[id];
    Balancer(neighbours, of_kind, ranks, rank_of).balance();
  }
}

double cut_of(const Neighbours& neighbours, const std::vector<int>& rank_of) {
  double cut = 0;
  for (std::size_t id = 0; id < rank_of.size(); ++id)
    for (const auto& [other, cost] : neighbours[id])
      if (rank_of[other] != rank_of[id]) cut += cost;
  return cut;
}

double largest_load(const std::vector<std::size_t>& members, const std::vector<double>& weights,
                    const std::vector<int>& rank_of) {
  std::map<int, double> loads;
  for (const std::size_t id : members) loads[rank_of[id]] += weights[id];
  return std::max_element(loads.begin(), loads.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->second;
}

/// Components of a kind with the same weights and links are equal for METIS, but their work
/// differs: SMs with low numbers get blocks first, and low-numbered parts of a problem are often
/// larger.  So ranks take them in turns, each as many as before, unless that cuts more.
///
/// Where weights differ, because they were measured, the heaviest come first, and all ranks get the
/// same number.  Components that work while most are idle are thus spread over the ranks.  That may
/// cost a little balance and cut.
void mix_kinds(const Graph& graph, const Neighbours& neighbours, const std::vector<double>& weights,
               int ranks, std::vector<int>& rank_of) {
  for (std::uint32_t kind = 0; kind < graph.kinds().size(); ++kind) {
    std::vector<std::size_t> members, left(std::size_t(ranks), 0);
    for (std::size_t id = 0; id < weights.size(); ++id) {
      if (graph.nodes()[id].kind.value() != kind) continue;
      members.push_back(id);
      ++left[std::size_t(rank_of[id])];
    }
    if (members.empty()) continue;
    const bool differ = std::any_of(members.begin(), members.end(), [&](std::size_t id) {
      return weights[id] != weights[members[0]];
    });
    if (differ) {
      std::stable_sort(members.begin(), members.end(),
                       [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
      for (std::size_t rank = 0; rank < left.size(); ++rank)
        left[rank] = (members.size() + left.size() - 1 - rank) / left.size();
    }
    std::vector<int> mixed = rank_of;
    std::vector<double> loads(left.size(), 0);
    for (std::size_t i = 0; i < members.size(); ++i) {
      std::size_t rank = fair_turn(i, left.size());
      while (left[rank] == 0) rank = (rank + 1) % left.size();
      for (std::size_t other = 0; differ && other < left.size(); ++other)
        if (left[other] > 0 && loads[other] < loads[rank]) rank = other;
      --left[rank];
      loads[rank] += weights[members[i]];
      mixed[members[i]] = int(rank);
    }
    const double tolerated = 1 + (differ ? tolerated_for_mixing : 1e-9);
    if (cut_of(neighbours, mixed) <= cut_of(neighbours, rank_of) * tolerated &&
        largest_load(members, weights, mixed) <=
            largest_load(members, weights, rank_of) * tolerated)
      rank_of = mixed;
  }
}

/// Deals components to threads by longest processing time: the heaviest component left goes to the
/// thread with the least load. Threads take turns where loads are equal.
void assign_threads(const std::vector<double>& weights, int threads, std::vector<Place>& places) {
  std::vector<std::size_t> order(places.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
  struct Rank {
    std::vector<double> loads;
    double last = -1;       ///< weight of the component before
    std::size_t equal = 0;  ///< components of that weight so far
  };
  std::map<int, Rank> ranks;
  for (const std::size_t id : order) {
    Rank& rank = ranks[places[id].rank];
    rank.loads.resize(std::size_t(threads), 0);
    rank.equal = weights[id] == rank.last ? rank.equal + 1 : 0;
    rank.last = weights[id];
    const double least = *std::min_element(rank.loads.begin(), rank.loads.end());
    std::size_t thread = fair_turn(rank.equal, rank.loads.size());
    while (rank.loads[thread] != least) thread = (thread + 1) % rank.loads.size();
    places[id].thread = int(thread);
    rank.loads[thread] += weights[id];
  }
}

void check_sizes(const Graph& graph, int ranks, int threads) {
  LOCKSTEP_CHECK(ranks > 0 && threads > 0, "at least one rank and one thread");
  const std::size_t components = graph.nodes().size();
  if (std::size_t(ranks) <= components) return;
  throw UserError("",
                  "there are more ranks (" + std::to_string(ranks) + ") than components (" +
                      std::to_string(components) + ")",
                  "start at most " + std::to_string(components) + " ranks");
}

/// Renames ranks so that `component` lives on rank 0.
void gather_at_rank_0(ComponentId component, std::vector<Place>& places) {
  if (!component.valid()) return;
  const int rank = places.at(component.value()).rank;
  for (Place& place : places) {
    if (place.rank == rank || place.rank == 0) place.rank = rank - place.rank;
  }
}

std::vector<int> ranks_within(const Graph& graph, const std::vector<double>& weights, int ranks) {
  std::vector<int> rank_of(weights.size(), 0);
  if (ranks < 2) return rank_of;
  const Neighbours neighbours = neighbours_of(graph);
  rank_of = metis_ranks(neighbours, weights, ranks);
  Balancer balancer(neighbours, weights, ranks, rank_of);
  balancer.fill_empty_ranks();
  balancer.balance();
  balance_kinds(graph, neighbours, weights, ranks, rank_of);
  mix_kinds(graph, neighbours, weights, ranks, rank_of);
  return rank_of;
}

/// A group of the graph, and its weight.
struct Group {
  std::vector<std::size_t> members;
  double weight = 0;
  int ranks = 1;
};

std::vector<Group> groups_of(const Graph& graph, const std::vector<double>& weights) {
  std::vector<Group> groups;
  for (std::size_t id = 0; id < weights.size(); ++id) {
    const std::optional<std::uint32_t> group = graph.nodes()[id].group;
    if (!group) continue;
    if (groups.size() <= *group) groups.resize(*group + 1);
    groups[*group].members.push_back(id);
    groups[*group].weight += weights[id];
  }
  return groups;
}

/// Returns the members alone, with the links among them.
Graph graph_of(const Graph& graph, const Group& group) {
  Graph inside;
  for (const Graph::Kind& kind : graph.kinds()) inside.add_kind(kind.name);
  std::vector<ComponentId> numbers(graph.nodes().size(), ComponentId::none());
  for (const std::size_t id : group.members)
    numbers[id] = inside.add_component(graph.nodes()[id].kind, graph.nodes()[id].weight);
  for (const Graph::Edge& edge : graph.edges()) {
    const ComponentId source = numbers[edge.source.value()];
    const ComponentId destination = numbers[edge.destination.value()];
    if (source.valid() && destination.valid())
      inside.connect(source, destination, edge.latency, edge.weight);
  }
  return inside;
}

/// Deals whole groups to ranks: the heaviest that is left goes to the rank with the least load.
void deal_groups(const std::vector<Group>& groups, std::vector<int>& rank_of,
                 std::vector<double>& loads) {
  std::vector<const Group*> order;
  for (const Group& group : groups) order.push_back(&group);
  std::stable_sort(order.begin(), order.end(),
                   [](const Group* a, const Group* b) { return a->weight > b->weight; });
  for (const Group* group : order) {
    const auto least = std::min_element(loads.begin(), loads.end());
    for (const std::size_t id : group->members) rank_of[id] = int(least - loads.begin());
    *least += group->weight;
  }
}

/// Gives each group its ranks.  Returns false if a group would get more ranks than it has members.
bool deal_ranks(std::vector<Group>& groups, int ranks) {
  std::vector<double> weights;
  for (const Group& group : groups) weights.push_back(group.weight);
  const std::vector<std::size_t> shares = rank_shares(weights, std::size_t(ranks));
  for (std::size_t g = 0; g < groups.size(); ++g) groups[g].ranks = int(shares[g]);
  return std::all_of(groups.begin(), groups.end(), [](const Group& group) {
    return std::size_t(group.ranks) <= group.members.size();
  });
}

/// Puts components that belong to all groups on the rank with the least load.
void deal_rest(const Graph& graph, const std::vector<double>& weights, std::vector<int>& rank_of,
               std::vector<double>& loads) {
  for (std::size_t id = 0; id < weights.size(); ++id) {
    if (graph.nodes()[id].group) continue;
    const auto least = std::min_element(loads.begin(), loads.end());
    rank_of[id] = int(least - loads.begin());
    *least += weights[id];
  }
}

std::vector<int> ranks_of(const Graph& graph, const std::vector<double>& weights, int ranks) {
  std::vector<Group> groups = groups_of(graph, weights);
  if (ranks < 2 || groups.size() < 2) return ranks_within(graph, weights, ranks);
  std::vector<int> rank_of(weights.size(), 0);
  std::vector<double> loads(std::size_t(ranks), 0);
  if (std::size_t(ranks) <= groups.size()) {
    deal_groups(groups, rank_of, loads);
  } else if (deal_ranks(groups, ranks)) {
    int first = 0;
    for (const Group& group : groups) {
      std::vector<double> of_members;
      for (const std::size_t id : group.members) of_members.push_back(weights[id]);
      const std::vector<int> inside = ranks_within(graph_of(graph, group), of_members, group.ranks);
      for (std::size_t m = 0; m < group.members.size(); ++m) {
        const int rank = first + inside[m];
        rank_of[group.members[m]] = rank;
        loads[static_cast<std::size_t>(rank)] += of_members[m];
      }
      first += group.ranks;
    }
  } else {
    return ranks_within(graph, weights, ranks);
  }
  deal_rest(graph, weights, rank_of, loads);
  return rank_of;
}

}  // namespace

Assignment partition(const Graph& graph, const PartitionOptions& options) {
  check_sizes(graph, options.ranks, options.threads);
  std::vector<double> weights = options.weights;
  weights.reserve(graph.nodes().size());
  if (weights.empty()) {
    for (const Graph::Node& node : graph.nodes()) weights.push_back(node.weight);
  }
  LOCKSTEP_CHECK(weights.size() == graph.nodes().size(), "one weight for each component");
  const std::vector<int> rank_of = ranks_of(graph, weights, options.ranks);
  Assignment assignment;
  assignment.places.reserve(rank_of.size());
  for (const int rank : rank_of) assignment.places.push_back({rank, 0});
  gather_at_rank_0(options.on_rank_0, assignment.places);
  assign_threads(weights, options.threads, assignment.places);
  return assignment;
}

std::optional<Assignment> partition_by_groups(const Graph& graph, ComponentId on_rank_0) {
  std::uint32_t groups = 0;
  for (const Graph::Node& node : graph.nodes())
    if (node.group) groups = std::max(groups, *node.group + 1);
  if (groups < 2) return std::nullopt;
  return partition(graph, int(groups), 1, on_rank_0);
}

Assignment random_assignment(const Graph& graph, int ranks, int threads, std::uint64_t seed,
                             ComponentId on_rank_0) {
  check_sizes(graph, ranks, threads);
  std::uint64_t drawn = 0;
  const auto draw = [&](std::size_t bound) {
    return random_block(seed, ComponentId::none(), random_assignment_purpose, drawn++)[0] % bound;
  };
  std::vector<std::size_t> order(graph.nodes().size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[draw(i)]);
  Assignment assignment;
  assignment.places.resize(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t rank = i < std::size_t(ranks) ? i : draw(std::size_t(ranks));
    assignment.places[order[i]] = {int(rank), int(draw(std::size_t(threads)))};
  }
  gather_at_rank_0(on_rank_0, assignment.places);
  return assignment;
}

}  // namespace lockstep
