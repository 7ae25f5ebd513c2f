#pragma once

// Reference of the workload pathfinder: dynamic programming, one row after the other.

#include <algorithm>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::pathfinder {

/// Only the launches' boundaries reach memory: `next` ends with the row before the last launch.
inline void run(const Parameters& parameters, Buffers& buffers) {
  const int columns = integer(parameters, "columns");
  const int rows = integer(parameters, "rows");
  const int steps = integer(parameters, "steps");
  const auto wall = buffers.as<int>("wall");
  for (int first = 0; first < rows; first += steps) {
    const auto before = buffers.as<int>("cost");
    std::vector<int> cost(before.begin(), before.end());
    for (int row = first; row < std::min(first + steps, rows); ++row) {
      const std::vector<int> above = cost;
      for (int x = 0; x < columns; ++x) {
        int least = above[x];
        if (x > 0) least = std::min(least, above[x - 1]);
        if (x < columns - 1) least = std::min(least, above[x + 1]);
        cost[x] = wall[row * columns + x] + least;
      }
    }
    std::ranges::copy(cost, buffers.as<int>("next").begin());
    buffers.swap("cost", "next");
  }
}

}  // namespace lockstep::reference::pathfinder
