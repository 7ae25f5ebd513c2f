#pragma once

#include "core/parameters/parameters.hpp"

namespace lockstep {

/// An L2 in two halves: key `noc.halves` of a GPU (see l2_halves.hpp).
struct HalfParameters {
  Cycles crossing_latency;
  std::uint32_t crossing_rate;

  static auto schema() {
    using namespace literals;
    using P = HalfParameters;
    return parameters<P>()
        .field("crossing_latency", &P::crossing_latency, 0_cycles, range(0_cycles, 1000_cycles),
               "between the halves of L2, each way; 0: it is whole")
        .field("crossing_rate", &P::crossing_rate, 2, range(1, 64),
               "flits that cross in a cycle, of what a partition's lines are asked for", "flits")
        .only_if("crossing_rate", "with crossing_latency above 0",
                 [](const P& p) { return p.on(); });
  }
  bool on() const { return crossing_latency.count() > 0; }
};

}  // namespace lockstep
