#pragma once

#include <cstdint>
#include <vector>

#include "core/engine/assignment.hpp"
#include "core/engine/distance.hpp"

namespace lockstep {

/// Counts how often ranks would meet if components were dealt to them, while they are on one rank:
/// an outer window begins where the one before leaves nothing to do (window_loop.cpp).
class MeetingsApart {
 public:
  MeetingsApart(const Graph& graph, const Assignment& apart)
      : across_(distances_across(graph, apart)) {}

  /// Looks at a window that begins.  `next`: of all components, by kind.
  void look(const std::vector<Time>& next, Time boundary);
  std::uint64_t meetings() const { return meetings_; }

 private:
  const Distances across_;
  std::vector<Time> outer_;  ///< horizons of the outer window, by kind
  std::uint64_t meetings_ = 0;
};

}  // namespace lockstep
