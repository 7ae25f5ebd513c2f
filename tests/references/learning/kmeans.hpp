#pragma once

// Reference of the workload kmeans; sums in the same 64-bit fixed point.

#include <cmath>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::kmeans {

inline constexpr float scale = 1048576.0f;

inline int nearest_centre(const Parameters& parameters, Buffers& buffers, int point) {
  const int points = integer(parameters, "points");
  const int features = integer(parameters, "features");
  const auto feature = buffers.as<float>("feature");
  const auto centre = buffers.as<float>("centre");
  float nearest = 3.0e38f;
  int best = 0;
  for (int c = 0; c < integer(parameters, "clusters"); ++c) {
    float distance = 0.0f;
    for (int f = 0; f < features; ++f) {
      const float difference = feature[f * points + point] - centre[c * features + f];
      distance = std::fma(difference, difference, distance);
    }
    if (distance < nearest) {
      nearest = distance;
      best = c;
    }
  }
  return best;
}

inline void run(const Parameters& parameters, Buffers& buffers) {
  const int points = integer(parameters, "points");
  const int features = integer(parameters, "features");
  const int clusters = integer(parameters, "clusters");
  const auto feature = buffers.as<float>("feature");
  const auto centre = buffers.as<float>("centre");
  const auto membership = buffers.as<int>("membership");
  for (int round = 0; round < integer(parameters, "rounds"); ++round) {
    std::vector<long long> sum(clusters * features);
    std::vector<unsigned> size(clusters);
    for (int p = 0; p < points; ++p) {
      const int c = nearest_centre(parameters, buffers, p);
      membership[p] = c;
      ++size[c];
      for (int f = 0; f < features; ++f) {
        sum[c * features + f] += std::llrint(feature[f * points + p] * scale);
      }
    }
    for (int i = 0; i < clusters * features; ++i) {
      const unsigned members = size[i / features];
      if (members == 0) continue;
      centre[i] = static_cast<float>(sum[i]) / (static_cast<float>(members) * scale);
    }
  }
}

}  // namespace lockstep::reference::kmeans
