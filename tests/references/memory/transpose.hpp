#pragma once

// Reference of the workload transpose.

#include "tests/references/buffers.hpp"

namespace lockstep::reference::transpose {

inline void run(const Parameters& parameters, Buffers& buffers) {
  const int width = integer(parameters, "width");
  const int height = integer(parameters, "height");
  const auto in = buffers.as<float>("in");
  const auto out = buffers.as<float>("out");
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) out[x * height + y] = in[y * width + x];
  }
}

}  // namespace lockstep::reference::transpose
