#include <algorithm>
#include <map>

#include "core/time/format.hpp"
#include "partitioner/partitioner.hpp"

namespace lockstep {
namespace {

std::string percent(double part, double whole) {
  const auto tenths = std::int64_t(whole > 0 ? part / whole * 1000 + 0.5 : 0);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " %";
}

/// Returns a text such as "0-3, 7" for ascending numbers.
std::string ranges(const std::vector<std::uint32_t>& numbers) {
  std::string text;
  for (std::size_t first = 0; first < numbers.size();) {
    std::size_t last = first;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += (text.empty() ? "" : ", ") + std::to_string(numbers[first]);
    if (last > first) text += "-" + std::to_string(numbers[last]);
    first = last + 1;
  }
  return text;
}

/// Returns a text such as "sm[0-39] partition[0-15]" for the components that `owns` accepts.
template <class Owns>
std::string owned_text(const Graph& graph, Owns&& owns) {
  std::map<std::uint16_t, std::vector<std::uint32_t>> numbers;
  for (std::size_t id = 0; id < graph.nodes().size(); ++id) {
    const Graph::Node& node = graph.nodes()[id];
    if (owns(id)) numbers[node.kind.value()].push_back(node.index);
  }
  std::string text;
  for (const auto& [kind, list] : numbers) {
    text += (text.empty() ? "" : " ") + graph.kinds()[kind].name + "[" + ranges(list) + "]";
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace

std::vector<RankCut> rank_cuts(const Graph& graph, const Assignment& assignment) {
  std::map<std::pair<int, int>, RankCut> cuts;
  for (std::size_t id = 0; id < graph.edges().size(); ++id) {
    const Graph::Edge& edge = graph.edges()[id];
    const int from = assignment.places.at(edge.source.value()).rank;
    const int to = assignment.places.at(edge.destination.value()).rank;
    if (from == to) continue;
    RankCut& cut =
        cuts.try_emplace({from, to}, RankCut{from, to, 0, 0, Time::never(), {}}).first->second;
    ++cut.links;
    cut.weight += edge.weight;
    if (edge.latency < cut.lookahead) {
      cut.lookahead = edge.latency;
      cut.shortest = LinkId{std::uint32_t(id)};
    }
  }
  std::vector<RankCut> result;
  result.reserve(cuts.size());
  for (const auto& [pair, cut] : cuts) result.push_back(cut);
  return result;
}

std::string describe_partition(const Graph& graph, const Assignment& assignment,
                               const std::vector<double>& weights) {
  const auto weight_of = [&](std::size_t id) {
    return weights.empty() ? graph.nodes()[id].weight : weights.at(id);
  };
  int ranks = 0, threads = 0;
  double total = 0, traffic = 0;
  for (const Place& place : assignment.places) {
    ranks = std::max(ranks, place.rank + 1);
    threads = std::max(threads, place.thread + 1);
  }
  for (std::size_t id = 0; id < graph.nodes().size(); ++id) total += weight_of(id);
  for (const Graph::Edge& edge : graph.edges()) traffic += edge.weight;
  std::string text = std::to_string(graph.nodes().size()) + " components and " +
                     std::to_string(graph.edges().size()) + " links on " + std::to_string(ranks) +
                     " ranks of " + std::to_string(threads) + " threads\n";
  for (int rank = 0; rank < ranks; ++rank) {
    for (int thread = 0; thread < threads; ++thread) {
      const auto owns = [&](std::size_t id) {
        return assignment.places[id].rank == rank && assignment.places[id].thread == thread;
      };
      double load = 0;
      for (std::size_t id = 0; id < graph.nodes().size(); ++id) {
        if (owns(id)) load += weight_of(id);
      }
      text += "rank " + std::to_string(rank) + " thread " + std::to_string(thread) + ": " +
              percent(load, total) + " of the work: " + owned_text(graph, owns) + "\n";
    }
  }
  const std::vector<RankCut> cuts = rank_cuts(graph, assignment);
  std::uint64_t links = 0;
  double weight = 0;
  for (const RankCut& cut : cuts) {
    links += cut.links;
    weight += cut.weight;
  }
  text += "cut: " + std::to_string(links) + " of " + std::to_string(graph.edges().size()) +
          " links, " + percent(weight, traffic) + " of the traffic\n";
  for (const RankCut& cut : cuts) {
    const Graph::Edge& edge = graph.edges()[cut.shortest.value()];
    text += "rank " + std::to_string(cut.from) + " -> " + std::to_string(cut.to) + ": " +
            std::to_string(cut.links) + " links, " + percent(cut.weight, traffic) +
            " of the traffic, lookahead " + to_text(cut.lookahead) + " (" +
            graph.name(edge.source) + " -> " + graph.name(edge.destination) + ")\n";
  }
  return text;
}

}  // namespace lockstep
