#pragma once

// Reference of the workload triad.

#include <cmath>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::triad {

inline void run(const Parameters& parameters, Buffers& buffers) {
  const auto a = buffers.as<float>("a"), b = buffers.as<float>("b"), c = buffers.as<float>("c");
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = std::fma(real(parameters, "scalar"), c[i], b[i]);
  }
}

}  // namespace lockstep::reference::triad
