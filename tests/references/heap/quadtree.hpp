#pragma once

// Reference of the workload quadtree: squares are split in place, by sorting their points.

#include <algorithm>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::quadtree {

struct Tree {
  std::span<const float> point;
  std::span<unsigned> depth, around, same;
  unsigned levels, crowd;

  float x(unsigned i) const { return point[2 * i]; }
  float y(unsigned i) const { return point[2 * i + 1]; }

  void split(std::span<unsigned> points, unsigned level, float middle_x, float middle_y,
             float half) {
    if (level == levels || points.size() <= crowd) return leaf(points, level);
    const auto above =
        std::partition(points.begin(), points.end(), [&](unsigned i) { return y(i) < middle_y; });
    half *= 0.5f;
    for (const bool up : {false, true}) {
      const auto first = up ? above : points.begin(), end = up ? points.end() : above;
      const auto right = std::partition(first, end, [&](unsigned i) { return x(i) < middle_x; });
      const float next_y = middle_y + (up ? half : -half);
      split({first, right}, level + 1, middle_x - half, next_y, half);
      split({right, end}, level + 1, middle_x + half, next_y, half);
    }
  }

  void leaf(std::span<const unsigned> points, unsigned level) {
    for (const unsigned i : points) {
      depth[i] = level;
      around[i] = static_cast<unsigned>(points.size());
      same[i] =
          static_cast<unsigned>(std::count_if(points.begin(), points.end(), [&](unsigned other) {
            return x(other) == x(i) && y(other) == y(i);
          }));
    }
  }
};

inline void run(const Parameters& parameters, Buffers& buffers) {
  Tree tree{buffers.as<float>("point"),
            buffers.as<unsigned>("depth"),
            buffers.as<unsigned>("around"),
            buffers.as<unsigned>("same"),
            static_cast<unsigned>(integer(parameters, "levels")),
            static_cast<unsigned>(integer(parameters, "crowd"))};
  std::vector<unsigned> points(tree.depth.size());
  for (unsigned i = 0; i < points.size(); ++i) points[i] = i;
  tree.split(points, 0, 0.5f, 0.5f, 0.5f);
}

}  // namespace lockstep::reference::quadtree
