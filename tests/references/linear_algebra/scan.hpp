#pragma once

// Reference of the workload scan.

#include "tests/references/buffers.hpp"

namespace lockstep::reference::scan {

inline void run(const Parameters&, Buffers& buffers) {
  const auto in = buffers.as<unsigned>("in");
  unsigned sum = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (i % 1024 == 0) buffers.as<unsigned>("before")[i / 1024] = sum;
    buffers.as<unsigned>("out")[i] = sum;
    buffers.as<unsigned>("of_block")[i / 1024] += in[i];
    sum += in[i];
  }
  buffers.as<unsigned>("total")[0] = sum;
}

}  // namespace lockstep::reference::scan
