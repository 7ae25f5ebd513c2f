#pragma once

#include "core/parameters/parameters.hpp"

namespace lockstep {

/// How the misses of a profile come: in groups with a window between them, so that a core waits for
/// one group at a time, or evenly spread over its instructions.
enum class CpuMisses : std::uint8_t { grouped, spread };

/// CPU cores that share the GPU's memory: key `cpu` of a GPU.
///
/// Source: 004, Table 5.2 (16 cores, 3.2 GHz, 3-wide, 128 instructions in flight).  Latency and
/// credits are ours.
struct CpuParameters {
  std::uint32_t cores = 0, width = 0, window = 0, credits = 0;
  Frequency clock;
  Time link_latency;
  CpuMisses misses = CpuMisses::grouped;

  static auto schema() {
    using namespace literals;
    using P = CpuParameters;
    return parameters<P>()
        .field("cores", &P::cores, 0, range(0, 256), "cores that tenants with `cpu:` can have")
        .field("clock", &P::clock, 3200_MHz, range(1_MHz, 10000_MHz), "clock of the cores")
        .field("width", &P::width, 3, range(1, 16),
               "instructions that a core takes in, and retires, in a cycle", "instructions")
        .field("window", &P::window, 128, range(1, 4096), "instructions of a core in flight",
               "instructions")
        .field("link_latency", &P::link_latency, 50_ns, range(1_ns, 1_us),
               "latency from a core to a DRAM controller, and back: the controller's fixed latency")
        .field("credits", &P::credits, 16, range(1, 4096),
               "unanswered requests of a core at one controller", "requests")
        .field("misses", &P::misses, CpuMisses::grouped, choice({"grouped", "spread"}),
               "how the misses of a profile come. grouped: in groups, each further than a window "
               "behind the one before, of which the profile's bank parallelism is true; spread: "
               "evenly, so that as many are unanswered as the window holds")
        .only_if("clock width window link_latency credits misses", "with cores above 0",
                 [](const P& p) { return p.cores > 0; });
  }
};

}  // namespace lockstep
