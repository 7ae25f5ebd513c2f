#pragma once

#include <vector>

#include "core/parameters/parameters.hpp"

namespace lockstep {

/// The front end between host and SMs.  Source: gpu-parameters.md, section 2.
struct DispatchParameters {
  Frequency clock;
  Cycles launch_latency, block_interval, link_latency;
  std::uint32_t clusters = 1;
  std::vector<std::uint32_t> gpcs;
  bool launch_overlap = false;

  static auto schema() {
    using namespace literals;
    using P = DispatchParameters;
    return parameters<P>()
        .field("clock", &P::clock, 1312_MHz, range(1_MHz, 10000_MHz), "clock of the dispatcher")
        .field("launch_latency", &P::launch_latency, 5000_cycles, range(0_cycles, 10000000_cycles),
               "time from a launch's arrival at the GPU to its first block")
        .field("launch_overlap", &P::launch_overlap, false,
               "a launch behind another one of its stream is at the GPU before that one ends, and "
               "its latency begins when it gets there (te42kyfo/gpu-benches, gpu-small-kernels)")
        .field("block_interval", &P::block_interval, 1_cycles, range(1_cycles, 100000_cycles),
               "cycles between two blocks sent to SMs, or to the SMs of one cluster")
        .field("gpc_count", &P::clusters, 1, range(1, 64),
               "clusters of SMs (NVIDIA: GPCs) that get their blocks side by side: each gets one "
               "in block_interval",
               "GPCs")
        .formerly("clusters")
        .optional("gpcs", &P::gpcs, {}, "gpc_count", range(1, 1024),
                  "number of SMs of each GPC, if the GPCs are not equal: sm.count SMs in all; the "
                  "blocks of a thread block cluster stand in one GPC",
                  "SMs")
        .field("link_latency", &P::link_latency, 45_cycles, range(1_cycles, 100000_cycles),
               "latency between the dispatcher and an SM, each way; a hub's real distance")
        .only_if("gpc_count", "without gpcs", [](const P& p) { return p.gpcs.empty(); });
  }
};

}  // namespace lockstep
