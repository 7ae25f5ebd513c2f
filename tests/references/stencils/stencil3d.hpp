#pragma once

// Reference of the workload stencil3d.

#include <cmath>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::stencil3d {

inline void step(const Parameters& parameters, Buffers& buffers) {
  const int width = integer(parameters, "width");
  const int height = integer(parameters, "height");
  const int depth = integer(parameters, "depth");
  const float centre = real(parameters, "centre");
  const float side = real(parameters, "side");
  const auto grid = buffers.as<float>("grid");
  const auto next = buffers.as<float>("next");
  const int layer = width * height;
  for (int z = 0; z < depth; ++z) {
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const int i = z * layer + y * width + x;
        next[i] = grid[i];
        const bool border =
            x == 0 || x == width - 1 || y == 0 || y == height - 1 || z == 0 || z == depth - 1;
        if (border) continue;
        const float plane = (grid[i - 1] + grid[i + 1]) + (grid[i - width] + grid[i + width]);
        const float sides = plane + (grid[i - layer] + grid[i + layer]);
        next[i] = std::fma(side, sides, centre * grid[i]);
      }
    }
  }
}

inline void run(const Parameters& parameters, Buffers& buffers) {
  for (int i = 0; i < integer(parameters, "steps"); ++i) {
    step(parameters, buffers);
    buffers.swap("grid", "next");
  }
}

}  // namespace lockstep::reference::stencil3d
