#pragma once

// Reference of the workload spmv. The order of additions is the kernels': along the row, and by 32
// lanes that are then added as a halving tree.

#include <array>
#include <cmath>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::spmv {

inline void run(const Parameters& parameters, Buffers& buffers) {
  const auto row = buffers.as<unsigned>("row");
  const auto column = buffers.as<unsigned>("column");
  const auto value = buffers.as<float>("value");
  const auto x = buffers.as<float>("x");
  const auto y_scalar = buffers.as<float>("y_scalar");
  const auto y_vector = buffers.as<float>("y_vector");
  for (int r = 0; r < integer(parameters, "rows"); ++r) {
    float sum = 0.0f;
    std::array<float, 32> lanes{};
    for (unsigned i = row[r]; i < row[r + 1]; ++i) {
      sum = std::fma(value[i], x[column[i]], sum);
      float& lane = lanes[(i - row[r]) % 32];
      lane = std::fma(value[i], x[column[i]], lane);
    }
    for (int distance = 16; distance > 0; distance /= 2) {
      for (int lane = 0; lane < distance; ++lane) lanes[lane] += lanes[lane + distance];
    }
    y_scalar[r] = sum;
    y_vector[r] = lanes[0];
  }
}

}  // namespace lockstep::reference::spmv
