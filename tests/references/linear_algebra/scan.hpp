#pragma once

// Reference of the workload scan.

#include "tests/references/buffers.hpp"

namespace lockstep::reference::scan {

inline void run(const Parameters&, Buffers& buffers) {
  const auto in = buffers.as<unsigned>("in");
  constexpr std::size_t block = 1024, group = 1024 * block;
  unsigned sum = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (i % group == 0) buffers.as<unsigned>("before_group")[i / group] = sum;
    if (i % block == 0) buffers.as<unsigned>("before_block")[i / block] = sum;
    buffers.as<unsigned>("out")[i] = sum;
    buffers.as<unsigned>("of_block")[i / block] += in[i];
    buffers.as<unsigned>("of_group")[i / group] += in[i];
    sum += in[i];
  }
  buffers.as<unsigned>("total")[0] = sum;
}

}  // namespace lockstep::reference::scan
