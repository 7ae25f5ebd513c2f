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
               "from a launch's arrival at the GPU to its first block")
        .field("launch_overlap", &P::launch_overlap, false,
               "a launch that stood behind another one of its stream was at the GPU before that "
               "ended: its latency begins there (te42kyfo/gpu-benches, gpu-small-kernels)")
        .field("block_interval", &P::block_interval, 1_cycles, range(1_cycles, 100000_cycles),
               "between two blocks sent to SMs, or to those of one cluster")
        .field(
            "clusters", &P::clusters, 1, range(1, 64),
            "clusters of SMs (NVIDIA: GPCs) that get their blocks side by side: so many leave in "
            "block_interval",
            "clusters")
        .optional("gpcs", &P::gpcs, {}, "clusters", range(1, 1024),
                  "SMs of each such cluster, where they are not equal: as many in all as sm.count; "
                  "the blocks of a thread block cluster stand in one of them",
                  "SMs")
        .field("link_latency", &P::link_latency, 45_cycles, range(1_cycles, 100000_cycles),
               "between the dispatcher and an SM, each way; a hub's real distance")
        .only_if("clusters", "without gpcs", [](const P& p) { return p.gpcs.empty(); });
  }
};

}  // namespace lockstep
