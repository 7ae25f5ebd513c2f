#pragma once

#include "core/parameters/parameters.hpp"

namespace lockstep {

/// Network between the SMs of a GPC, which the blocks of a cluster use: key `noc.hub` of a GPU (see
/// models/gpc/hub.hpp).
/// Source: modern-isa.md, sections 4.2 and 5.8.
struct HubParameters {
  Cycles link_latency, service_latency, barrier_latency;
  std::uint32_t flit_bytes = 0;
  std::uint32_t flit_half_cycles = 0, multicast_half_cycles = 0;

  static auto schema() {
    using namespace literals;
    using P = HubParameters;
    return parameters<P>()
        .field("link_latency", &P::link_latency, 45_cycles, range(1_cycles, 10000_cycles),
               "latency between an SM and the hub of its GPC, each way: an access to shared memory "
               "of another block of the cluster takes it four times")
        .field("service_latency", &P::service_latency, 10_cycles, range(0_cycles, 10000_cycles),
               "latency of shared memory that another SM accesses")
        .field("barrier_latency", &P::barrier_latency, 100_cycles, range(0_cycles, 10000_cycles),
               "latency of a barrier of a cluster, beyond the way to the hub and back")
        .field("flit_bytes", &P::flit_bytes, 32, range(1, 1024),
               "bytes that a port to or from the hub moves at once", "bytes")
        .field("flit_half_cycles", &P::flit_half_cycles, 3, range(1, 1024),
               "half cycles that a flit takes: 3 for 21 bytes a cycle", "half cycles")
        .field(
            "multicast_half_cycles", &P::multicast_half_cycles, 1, range(1, 1024),
            "half cycles that a flit takes of bytes that L2 has sent for several blocks: 1 for 64 "
            "bytes a cycle, with which L2 answers an SM (no publication has it)",
            "half cycles");
  }
  /// Returns the flits of a packet with this number of bytes of data.
  std::uint32_t flits(std::uint64_t data_bytes) const {
    return data_bytes <= flit_bytes
               ? 1
               : static_cast<std::uint32_t>((data_bytes + flit_bytes - 1) / flit_bytes);
  }
};

}  // namespace lockstep
