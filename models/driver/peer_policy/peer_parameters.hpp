#pragma once

#include "core/parameters/parameters.hpp"

namespace lockstep {

enum class PageWay : std::uint8_t { fabric, host };
enum class Spill : std::uint8_t { host, neighbour, least_loaded };

/// Parameters of every peer policy.
struct PeerParameters {
  Time stays;
  PageWay pages_go = PageWay::fabric;
  Spill spill = Spill::host;

  static auto schema() { return fields<PeerParameters>(); }
  /// Fields of these parameters at the head of the parameters P, a derived struct of another
  /// policy.
  template <class P>
  static ParametersOf<P> fields() {
    using namespace literals;
    return parameters<P>()
        .field("stays", &P::stays, 5_us, range(0_ns, 1000_ms),
               "least time for which a page stays on the GPU to which it came, before another "
               "GPU's fault takes it away")
        .field(
            "page_route", &P::pages_go, PageWay::fabric, choice({"fabric", "host"}),
            "fabric: pages go from GPU to GPU over the fabric where there is a way; host: by way "
            "of host memory always")
        .formerly("pages_go")
        .field("spill", &P::spill, Spill::host, choice({"host", "neighbour", "least-loaded"}),
               "place of evicted pages of a tenant with several GPUs: host; neighbour: the next of "
               "these GPUs with free memory and a way; least-loaded: among such GPUs, the one to "
               "which the fewest pages are on their way");
  }
};

/// Parameters of policies that map pages of other GPUs and count accesses to them.
struct CountedPeerParameters : PeerParameters {
  std::uint32_t threshold;

  template <class P>
  static ParametersOf<P> fields() {
    return PeerParameters::fields<P>().field(
        "threshold", &P::threshold, 256, range(0, 1 << 30),
        "number of requests of a GPU to a page that it maps on another GPU, after which the page "
        "moves to that GPU; 0: never",
        "requests");
  }
  static auto schema() { return fields<CountedPeerParameters>(); }
};

}  // namespace lockstep
