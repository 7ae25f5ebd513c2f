#include "core/engine/distance.hpp"

#include <algorithm>

#include "core/time/format.hpp"

namespace lockstep {
namespace {

/// Distances of a single step between kinds: the shortest link of each pair for which `wanted` is
/// true.
template <class Predicate>
Distances steps(const Graph& graph, Predicate wanted) {
  Distances result(graph.kinds().size());
  for (const Graph::Edge& edge : graph.edges()) {
    if (!wanted(edge)) continue;
    result.shorten(graph.nodes()[edge.source.value()].kind.value(),
                   graph.nodes()[edge.destination.value()].kind.value(), edge.latency);
  }
  return result;
}

/// Closes the table by Floyd-Warshall. The diagonal becomes the shortest cycle, because it does not
/// start with zero.
void close(Distances& table) {
  for (std::size_t via = 0; via < table.kinds(); ++via) {
    for (std::size_t from = 0; from < table.kinds(); ++from) {
      for (std::size_t to = 0; to < table.kinds(); ++to) {
        table.shorten(from, to, table.between(from, via) + table.between(via, to));
      }
    }
  }
}

}  // namespace

void Distances::shorten(std::size_t from, std::size_t to, Time length) {
  Time& entry = table_[from * kinds_ + to];
  entry = std::min(entry, length);
}

Time Distances::shortest() const {
  return table_.empty() ? Time::never() : *std::min_element(table_.begin(), table_.end());
}

void Distances::cap_horizons(const std::vector<Time>& next, std::vector<Time>& horizons) const {
  for (std::size_t from = 0; from < kinds_; ++from) {
    if (next[from] == Time::never()) continue;
    for (std::size_t to = 0; to < kinds_; ++to) {
      horizons[to] = std::min(horizons[to], next[from] + between(from, to));
    }
  }
}

Distances distances_inside(const Graph& graph, const Assignment& assignment, int rank,
                           const std::vector<bool>& quiet) {
  const auto is_silent = [&](const Graph::Edge& edge) {
    return edge.carries == Graph::Carries::answers && !quiet.empty() &&
           quiet[graph.nodes()[edge.destination.value()].kind.value()];
  };
  Distances table = steps(graph, [&](const Graph::Edge& edge) {
    return !is_silent(edge) && assignment.places[edge.source.value()].rank == rank &&
           assignment.places[edge.destination.value()].rank == rank;
  });
  close(table);
  return table;
}

Distances distances_across(const Graph& graph, const Assignment& assignment) {
  const Distances crossing = steps(graph, [&](const Graph::Edge& edge) {
    return assignment.places[edge.source.value()].rank !=
           assignment.places[edge.destination.value()].rank;
  });
  Distances any = steps(graph, [](const Graph::Edge&) { return true; });
  close(any);

  // A path consists of any links or none, one crossing link, and any links or none.
  const std::size_t kinds = any.kinds();
  Distances begun = crossing;
  for (std::size_t from = 0; from < kinds; ++from) {
    for (std::size_t via = 0; via < kinds; ++via) {
      for (std::size_t to = 0; to < kinds; ++to) {
        begun.shorten(from, to, any.between(from, via) + crossing.between(via, to));
      }
    }
  }
  Distances result = begun;
  for (std::size_t from = 0; from < kinds; ++from) {
    for (std::size_t via = 0; via < kinds; ++via) {
      for (std::size_t to = 0; to < kinds; ++to) {
        result.shorten(from, to, begun.between(from, via) + any.between(via, to));
      }
    }
  }
  return result;
}

std::string limiting_cycle(const Graph& graph, std::span<const std::string> except) {
  const Distances links = steps(graph, [](const Graph::Edge&) { return true; });
  Distances paths = links;
  close(paths);
  const auto excepted = [&](std::size_t kind) {
    return std::find(except.begin(), except.end(), graph.kinds()[kind].name) != except.end();
  };

  // The shortest cycle starts with the link from -> to that has the shortest way back.
  Time best = Time::never();
  std::size_t best_from = 0;
  std::size_t best_to = 0;
  for (std::size_t from = 0; from < paths.kinds(); ++from) {
    if (excepted(from)) continue;
    for (std::size_t to = 0; to < paths.kinds(); ++to) {
      const Time back = to == from ? Time::zero() : paths.between(to, from);
      if (links.between(from, to) + back < best) {
        best = links.between(from, to) + back;
        best_from = from;
        best_to = to;
      }
    }
  }
  if (best == Time::never()) return "";

  std::string text = graph.kinds()[best_from].name;
  std::size_t at = best_to;
  while (at != best_from) {
    text += " -> " + graph.kinds()[at].name;
    for (std::size_t to = 0; to < paths.kinds(); ++to) {
      const Time rest = to == best_from ? Time::zero() : paths.between(to, best_from);
      if (links.between(at, to) + rest == paths.between(at, best_from)) {
        at = to;
        break;
      }
    }
  }
  return text + " -> " + graph.kinds()[best_from].name + ": " + to_text(best);
}

}  // namespace lockstep
