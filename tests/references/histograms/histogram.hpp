#pragma once

// Reference of the workload histogram.

#include "tests/references/buffers.hpp"

namespace lockstep::reference::histogram {

inline void run(const Parameters&, Buffers& buffers) {
  for (const unsigned value : buffers.as<unsigned>("data")) {
    ++buffers.as<unsigned>("privatised")[value % 256];
    ++buffers.as<unsigned>("direct")[value % 256];
  }
}

}  // namespace lockstep::reference::histogram
