#pragma once

#include "core/parameters/parameters.hpp"
#include "models/noc/address_mapping.hpp"
#include "models/noc/half_parameters.hpp"
#include "models/noc/hub_parameters.hpp"

namespace lockstep {

/// The network between SMs and memory partitions: key `noc` of a GPU.
///
/// A crossbar without a central component: bandwidth at both ends, arbitration at the receiving
/// port, a fixed traversal latency on the links.
/// Source: gpu-parameters.md, sections 8 and 14 (flits, control bytes; `rop` as link latency).
struct NocParameters {
  Frequency clock;
  Cycles request_latency, response_latency;
  AddressMapping::Kind mapping = AddressMapping::Kind::hashed;
  std::uint32_t flit_bytes = 0;
  std::uint32_t control_bytes = 0;
  std::uint32_t credits = 0;
  std::uint32_t burst = 0;
  HalfParameters halves;
  HubParameters hub;

  static auto schema() {
    using namespace literals;
    return parameters<NocParameters>()
        .field("clock", &NocParameters::clock, 1312_MHz, range(1_MHz, 10000_MHz),
               "clock of network and links")
        .field("request_latency", &NocParameters::request_latency, 140_cycles,
               range(1_cycles, 10000_cycles), "latency from an SM to a partition")
        .field("response_latency", &NocParameters::response_latency, 20_cycles,
               range(1_cycles, 10000_cycles), "latency from a partition to an SM")
        .field("mapping", &NocParameters::mapping, AddressMapping::Kind::hashed,
               choice({"plain", "hashed", "frame", "grouped"}),
               "how physical addresses spread over partitions; grouped: each tenant has partitions "
               "of its own, the same number for all tenants (004, section 6.6: Static)")
        .field("flit_bytes", &NocParameters::flit_bytes, 40, range(1, 1024),
               "bytes that a port moves in a cycle", "bytes")
        .field("control_bytes", &NocParameters::control_bytes, 8, range(0, 1024),
               "bytes of a packet in addition to its data", "bytes")
        .field("credits", &NocParameters::credits, 8, range(1, 4096),
               "unanswered requests of an SM at one partition: places in its receiving port",
               "requests")
        .field("burst", &NocParameters::burst, 1, range(1, 64),
               "requests that a partition's port takes from a sender before the next one's turn",
               "requests")
        .group("halves", &NocParameters::halves, "network between the halves of an L2")
        .group("hub", &NocParameters::hub,
               "network between the SMs of a GPC, for thread block clusters");
  }

  /// Returns the flits of a packet with this number of bytes of data.
  std::uint32_t flits(std::uint32_t data_bytes) const {
    return (control_bytes + data_bytes + flit_bytes - 1) / flit_bytes;
  }
};

}  // namespace lockstep
