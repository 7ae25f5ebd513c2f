#pragma once

// Reference of the workload stencil2d.

#include <algorithm>
#include <cmath>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::stencil2d {

/// One step from grid to next with 5 or 9 points; cells beyond the grid repeat the border.
inline void step(const Parameters& parameters, Buffers& buffers, float centre, bool nine_points) {
  const int width = integer(parameters, "width");
  const int height = integer(parameters, "height");
  const float edge = real(parameters, "edge");
  const float corner = real(parameters, "corner");
  const auto grid = buffers.as<float>("grid");
  const auto next = buffers.as<float>("next");
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const auto at = [&](int dx, int dy) {
        const int column = std::clamp(x + dx, 0, width - 1);
        return grid[std::clamp(y + dy, 0, height - 1) * width + column];
      };
      const float sides = (at(0, -1) + at(0, 1)) + (at(-1, 0) + at(1, 0));
      const float corners = (at(-1, -1) + at(1, -1)) + (at(-1, 1) + at(1, 1));
      const float five = std::fma(edge, sides, centre * at(0, 0));
      next[y * width + x] = nine_points ? std::fma(corner, corners, five) : five;
    }
  }
}

inline void run(const Parameters& parameters, Buffers& buffers) {
  for (int i = 0; i < integer(parameters, "steps"); ++i) {
    step(parameters, buffers, real(parameters, "centre5"), false);
    buffers.swap("grid", "next");
  }
  step(parameters, buffers, real(parameters, "centre9"), true);
}

}  // namespace lockstep::reference::stencil2d
