#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/engine/assignment.hpp"
#include "core/engine/graph.hpp"

namespace lockstep {

/// Least sums of latencies between kinds of components: the time that an effect of one component
/// needs to reach another.  Sums are kept by kind because machines are regular: a few dozen entries
/// instead of the square of the components, and never above the true distance.
class Distances {
 public:
  explicit Distances(std::size_t kinds) : kinds_(kinds), table_(kinds * kinds, Time::never()) {}

  Time between(std::size_t from, std::size_t to) const { return table_[from * kinds_ + to]; }
  std::size_t kinds() const { return kinds_; }

  /// Sets horizons[k] to the minimum over j of (next[j] + between(j, k)), but never above its old
  /// value.
  void cap_horizons(const std::vector<Time>& next, std::vector<Time>& horizons) const;

  /// Returns the length of the shortest path; no path is shorter than its first link.
  Time shortest() const;
  void shorten(std::size_t from, std::size_t to, Time length);

 private:
  std::size_t kinds_;
  std::vector<Time> table_;
};

/// Returns the shortest paths with at least one link, over the links between components of `rank`
/// only; between(k, k) is the shortest cycle through kind k.  Links that carry only answers to the
/// `quiet` kinds are left out.
Distances distances_inside(const Graph& graph, const Assignment& assignment, int rank,
                           const std::vector<bool>& quiet = {});

/// Returns the shortest paths over all links with at least one that crosses from one rank to
/// another.
Distances distances_across(const Graph& graph, const Assignment& assignment);

/// Returns the shortest cycle, as text; see Engine::limiting_cycle.
std::string limiting_cycle(const Graph& graph, std::span<const std::string> except);

}  // namespace lockstep
