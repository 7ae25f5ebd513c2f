#pragma once

// Reference of the workload scale_bulk.

#include "tests/references/buffers.hpp"

namespace lockstep::reference::scale_bulk {

inline void run(const Parameters&, Buffers& buffers) {
  const auto x = buffers.as<float>("x");
  const auto y = buffers.as<float>("y");
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = 3 * x[i];
}

}  // namespace lockstep::reference::scale_bulk
