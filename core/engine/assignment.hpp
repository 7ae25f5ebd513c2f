#pragma once

#include <vector>

#include "core/engine/graph.hpp"

namespace lockstep {

/// Place of a component: its rank, and the thread of that rank that runs it unless another thread
/// steals it.
struct Place {
  int rank = 0;
  int thread = 0;
};

/// Assignment of components to ranks and threads.  Results never depend on it.
struct Assignment {
  std::vector<Place> places;  ///< rank and thread of each component, by its number

  /// Returns a balanced default that ignores traffic: each kind is cut into pieces of equal weight.
  static Assignment spread(const Graph& graph, int ranks, int threads);
};

}  // namespace lockstep
