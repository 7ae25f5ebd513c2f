#pragma once

// Reference of the workload lud: the textbook elimination, column by column.

#include <cmath>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::lud {

inline void run(const Parameters& parameters, Buffers& buffers) {
  const int n = 16 * integer(parameters, "tiles");
  const auto matrix = buffers.as<float>("matrix");
  for (int i = 0; i < n; ++i) matrix[i * n + i] += static_cast<float>(n);
  for (int k = 0; k < n; ++k) {
    for (int y = k + 1; y < n; ++y) {
      matrix[y * n + k] /= matrix[k * n + k];
      for (int x = k + 1; x < n; ++x) {
        matrix[y * n + x] = std::fma(-matrix[y * n + k], matrix[k * n + x], matrix[y * n + x]);
      }
    }
  }
}

}  // namespace lockstep::reference::lud
