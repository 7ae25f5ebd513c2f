#pragma once

// Reference of the workload histogram1024.

#include <algorithm>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::histogram1024 {

inline void run(const Parameters& parameters, Buffers& buffers) {
  const float smallest = real(parameters, "smallest");
  const float bins_per_unit = 1024.0f / (real(parameters, "largest") - smallest);
  for (const float value : buffers.as<float>("data")) {
    const int bin = static_cast<int>((value - smallest) * bins_per_unit);
    ++buffers.as<unsigned>("counts")[std::clamp(bin, 0, 1023)];
  }
}

}  // namespace lockstep::reference::histogram1024
