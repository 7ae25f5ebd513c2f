#pragma once

// Reference of the workload pointer_chase and its variants (l1_latency, l2_latency, dram_latency):
// where the chain leads. The chain itself (addresses) and the cycles are the machine's own.

#include "tests/references/buffers.hpp"

namespace lockstep::reference::pointer_chase {

inline void run(const Parameters& parameters, Buffers& buffers) {
  const unsigned slots = static_cast<unsigned>(parameters.at("slots"));
  const unsigned multiplier = static_cast<unsigned>(parameters.at("multiplier"));
  const unsigned increment = static_cast<unsigned>(parameters.at("increment"));
  const int hops = integer(parameters, "warm_up") + integer(parameters, "hops");
  unsigned slot = 0;
  for (int i = 0; i < hops; ++i) slot = (multiplier * slot + increment) % slots;
  buffers.as<unsigned>("reached")[0] = slot * static_cast<unsigned>(parameters.at("spacing"));
}

}  // namespace lockstep::reference::pointer_chase
