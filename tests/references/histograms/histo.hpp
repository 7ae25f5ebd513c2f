#pragma once

// Reference of the workload histo. The last kernel leaves the counts at zero and the range empty,
// as they were.

#include "tests/references/buffers.hpp"

namespace lockstep::reference::histo {

inline void run(const Parameters&, Buffers& buffers) {
  const auto result = buffers.as<unsigned char>("result");
  for (const int bin : buffers.as<int>("data")) {
    if (result[bin] < 255) ++result[bin];
  }
}

}  // namespace lockstep::reference::histo
