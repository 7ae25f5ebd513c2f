#pragma once

#include <cstdint>
#include <string>

#include "core/parameters/parameters.hpp"

namespace lockstep {

enum class FabricKind : std::uint8_t {
  crossed,  ///< a switch: all GPUs reach each other
  direct,   ///< links between pairs
};

/// Links between GPUs (configs/fabrics/*.yaml).  Source: design of the project; each file names the
/// source of its rate and latency.
struct FabricParameters {
  std::string name;
  FabricKind kind;
  Bandwidth rate;
  Time latency;
  Bytes payload, header;
  std::uint32_t links, tags, lines_in_flight;
  Node pairs;  ///< pairs of GPUs, see fabric.hpp

  static auto schema() {
    using namespace literals;
    using P = FabricParameters;
    return parameters<P>()
        .required("name", &P::name, "name of the fabric in reports")
        .field("kind", &P::kind, FabricKind::crossed, choice({"switch", "direct"}),
               "switch: each GPU has a port to all others; direct: links between pairs of GPUs")
        .required(
            "rate", &P::rate, range(Bandwidth{1e6}, Bandwidth{1e14}),
            "raw rate of each direction: of a GPU's port at a switch, of a link between two GPUs")
        .field("links", &P::links, 1, range(1, 64),
               "links of a GPU's port that make up its rate: an SM has gpu.noc.credits at each",
               "links")
        .field("latency", &P::latency, 270_ns, range(1_ns, 1_ms),
               "latency from the port of one GPU to the port of another")
        .field("payload", &P::payload, 256_B, range(32_B, 4_KiB),
               "data of a packet of a copy; loads and stores of SMs have packets of their own")
        .field("header", &P::header, 32_B, range(0_B, 1_KiB),
               "bytes of a packet in addition to its data, and of an answer without data")
        .field("tags", &P::tags, 4096, range(1, 1 << 16),
               "requests of a GPU's SMs to others that have not been answered", "requests")
        .field("lines_in_flight", &P::lines_in_flight, 8192, range(1, 1 << 20),
               "128-byte lines of a GPU's copies to others that have not been acknowledged",
               "lines")
        .part("pairs", &P::pairs, "list",
              "GPUs that have links: [{gpus: [0, 1], links: 2}]; without it, one between any two")
        .only_if("links", "with kind: switch; pairs have links of their own",
                 [](const P& p) { return p.kind == FabricKind::crossed; })
        .only_if("pairs", "with kind: direct",
                 [](const P& p) { return p.kind == FabricKind::direct; });
  }
};

}  // namespace lockstep
