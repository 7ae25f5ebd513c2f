#pragma once

// Reference of the workload tpacf: every pair, its bin found by a walk along the edges.

#include <cmath>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::tpacf {

struct Sky {
  std::span<float> x, y, z;
  std::span<const float> edge;

  void normalise() {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const float length = std::sqrt(std::fma(x[i], x[i], std::fma(y[i], y[i], z[i] * z[i])));
      x[i] /= length;
      y[i] /= length;
      z[i] /= length;
    }
  }

  std::size_t bin(int a, int b) const {
    const float cosine = std::fma(x[a], x[b], std::fma(y[a], y[b], z[a] * z[b]));
    std::size_t found = 0;
    while (found + 1 < edge.size() && cosine < edge[found]) ++found;
    return found;
  }
};

inline void run(const Parameters& parameters, Buffers& buffers) {
  const int points = integer(parameters, "points");
  const int sets = integer(parameters, "sets");
  Sky sky{buffers.as<float>("x"), buffers.as<float>("y"), buffers.as<float>("z"),
          buffers.as<float>("edge")};
  sky.normalise();
  const std::size_t bins = sky.edge.size();
  const auto count = [&](int histogram, int first, int second) {
    for (int i = 0; i < points; ++i) {
      for (int k = first == second ? i + 1 : 0; k < points; ++k) {
        const std::size_t bin = sky.bin(first * points + i, second * points + k);
        ++buffers.as<unsigned>("histogram")[histogram * bins + bin];
      }
    }
  };
  for (int set = 0; set <= sets; ++set) count(set, 0, set);
  for (int set = 1; set <= sets; ++set) count(sets + set, set, set);
}

}  // namespace lockstep::reference::tpacf
