#pragma once

// Reference of the workload managed_add.

#include "tests/references/buffers.hpp"

namespace lockstep::reference::managed_add {

inline void run(const Parameters&, Buffers& buffers) {
  const auto x = buffers.as<float>("x");
  const auto y = buffers.as<float>("y");
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] + y[i];
}

}  // namespace lockstep::reference::managed_add
