#pragma once

#include <string>

#include "core/parameters/parameters.hpp"

namespace lockstep {

/// CPU side and host link (configs/hosts/*.yaml).  Sources: gpu-parameters.md, section 12.
struct HostParameters {
  std::string name;
  Bandwidth link_bandwidth;
  Time link_latency, transfer_setup, launch_overhead;
  std::uint32_t lines_in_flight;

  static auto schema() {
    using namespace literals;
    using P = HostParameters;
    return parameters<P>()
        .required("name", &P::name, "what it is called in reports")
        .field("link_bandwidth", &P::link_bandwidth, Bandwidth{11.4e9},
               range(Bandwidth{1e6}, Bandwidth{1e13}), "of the host link, each direction")
        .field("link_latency", &P::link_latency, 500_ns, range(10_ns, 1_ms),
               "of the host link, each way")
        .field("transfer_setup", &P::transfer_setup, 900_ns, range(0_ns, 1_ms),
               "before the first byte of each transfer")
        .field("launch_overhead", &P::launch_overhead, 1_us, range(0_ns, 10_ms),
               "the driver's time per kernel launch, at the CPU")
        .field("lines_in_flight", &P::lines_in_flight, 4096, range(1, 1 << 20),
               "128-byte lines of transfers not yet acknowledged");
  }
};

}  // namespace lockstep
