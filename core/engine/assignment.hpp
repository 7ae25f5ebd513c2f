#pragma once

#include <vector>

#include "core/engine/graph.hpp"

namespace lockstep {

/// Where a component lives: its rank, and the thread of that rank that runs it unless it is stolen.
struct Place {
  int rank = 0;
  int thread = 0;
};

/// Assignment of components to ranks and threads.  Results never depend on it.
struct Assignment {
  std::vector<Place> places;  ///< rank and thread of each component, by its number

  /// Returns a balanced default without regard to traffic: each kind is cut into pieces of equal
  /// weight.
  static Assignment spread(const Graph& graph, int ranks, int threads);
};

}  // namespace lockstep
