#pragma once

// Reference of the workload cluster_histogram.

#include "tests/references/buffers.hpp"

namespace lockstep::reference::cluster_histogram {

inline void run(const Parameters& parameters, Buffers& buffers) {
  const auto bins = static_cast<unsigned>(integer(parameters, "bins"));
  const auto counts = buffers.as<unsigned>("counts");
  for (const unsigned value : buffers.as<unsigned>("data")) ++counts[value % bins];
}

}  // namespace lockstep::reference::cluster_histogram
