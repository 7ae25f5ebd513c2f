#pragma once

// Reference of the workload cluster_reduce: sums in double.

#include "tests/references/buffers.hpp"

namespace lockstep::reference::cluster_reduce {

inline void run(const Parameters& parameters, Buffers& buffers) {
  const int rows = integer(parameters, "rows"), columns = integer(parameters, "columns");
  const auto values = buffers.as<float>("values"), totals = buffers.as<float>("totals");
  const auto shares = buffers.as<float>("shares");
  for (int row = 0; row < rows; ++row) {
    double total = 0;
    for (int i = 0; i < columns; ++i) total += values[row * columns + i];
    totals[row] = static_cast<float>(total);
    for (int i = 0; i < columns; ++i)
      shares[row * columns + i] = static_cast<float>(values[row * columns + i] / total);
  }
}

}  // namespace lockstep::reference::cluster_reduce
