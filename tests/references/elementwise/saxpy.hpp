#pragma once

// Reference of the workload saxpy.

#include <cmath>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::saxpy {

inline void run(const Parameters& parameters, Buffers& buffers) {
  const float factor = real(parameters, "factor");
  const auto x = buffers.as<float>("x");
  const auto y = buffers.as<float>("y");
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = std::fma(factor, x[i], y[i]);
}

}  // namespace lockstep::reference::saxpy
