#pragma once

// Reference of the workload invert_mapping.

#include "tests/references/buffers.hpp"

namespace lockstep::reference::invert_mapping {

inline void run(const Parameters& parameters, Buffers& buffers) {
  const int points = integer(parameters, "points");
  const int features = integer(parameters, "features");
  const auto of_point = buffers.as<float>("of_point");
  const auto of_feature = buffers.as<float>("of_feature");
  for (int i = 0; i < points * features; ++i) {
    of_feature[i % features * points + i / features] = of_point[i];
  }
}

}  // namespace lockstep::reference::invert_mapping
