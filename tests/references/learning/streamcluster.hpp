#pragma once

// Reference of the workload streamcluster. The savings are summed in double precision: the kernel's
// float atomics may add them in any order.

#include <cmath>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::streamcluster {

inline void run(const Parameters& parameters, Buffers& buffers) {
  const int points = integer(parameters, "points");
  const auto coordinate = buffers.as<float>("coordinate");
  const auto weight = buffers.as<float>("weight");
  const auto cost = buffers.as<float>("cost");
  const auto assigned = buffers.as<unsigned>("assigned");
  const auto switches = buffers.as<unsigned char>("switches");
  const auto saved = buffers.as<float>("saved");
  std::vector<double> sums(saved.begin(), saved.end());
  for (int i = 0; i < integer(parameters, "candidates"); ++i) {
    const int candidate = i * integer(parameters, "stride");
    for (int p = 0; p < points; ++p) {
      float distance = 0.0f;
      for (int d = 0; d < integer(parameters, "dimensions"); ++d) {
        const float difference = coordinate[d * points + p] - coordinate[d * points + candidate];
        distance = std::fma(difference, difference, distance);
      }
      const float gain = std::fma(-weight[p], distance, cost[p]);
      switches[p] = gain > 0.0f ? 1 : 0;
      if (gain > 0.0f) sums[assigned[p] % sums.size()] += gain;
    }
  }
  for (std::size_t c = 0; c < saved.size(); ++c) saved[c] = static_cast<float>(sums[c]);
}

}  // namespace lockstep::reference::streamcluster
