#pragma once

#include "core/parameters/parameters.hpp"

namespace lockstep {

/// Parameters of every peer policy.
struct PeerParameters {
  Time stays;

  static auto schema() {
    using namespace literals;
    using P = PeerParameters;
    return parameters<P>().field(
        "stays", &P::stays, 5_us, range(0_ns, 1000_ms),
        "how long a page stays at least on the GPU to which it came, before "
        "another GPU's fault takes it away");
  }
};

}  // namespace lockstep
