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
               "latency between the halves of L2, each way; 0: the L2 is whole")
        .field("crossing_rate", &P::crossing_rate, 2, range(1, 64),
               "flits that cross between the halves in a cycle, for the lines of one partition",
               "flits")
        .only_if("crossing_rate", "with crossing_latency above 0",
                 [](const P& p) { return p.on(); });
  }
  bool on() const { return crossing_latency.count() > 0; }
};

}  // namespace lockstep
