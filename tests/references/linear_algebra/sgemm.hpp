#pragma once

// Reference of the workload sgemm: the textbook triple loop.

#include <cmath>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::sgemm {

inline void run(const Parameters& parameters, Buffers& buffers) {
  const int n = integer(parameters, "n");
  const auto a = buffers.as<float>("a");
  const auto b = buffers.as<float>("b");
  const auto c = buffers.as<float>("c");
  for (int row = 0; row < n; ++row) {
    for (int column = 0; column < n; ++column) {
      float sum = 0.0f;
      for (int k = 0; k < n; ++k) sum = std::fma(a[row * n + k], b[k * n + column], sum);
      c[row * n + column] = sum;
    }
  }
}

}  // namespace lockstep::reference::sgemm
