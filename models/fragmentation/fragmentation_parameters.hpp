#pragma once

#include "core/parameters/parameters.hpp"

namespace lockstep {

/// Foreign data that lie in GPU memory before a run: key `memory.fragmentation` of a GPU.
struct FragmentationParameters {
  double index = 0, occupancy = 0;

  static auto schema() {
    using P = FragmentationParameters;
    return parameters<P>()
        .field("index", &P::index, 0.0, range(0.0, 1.0),
               "share of large frames, 2 MiB, that hold foreign pages before the run (004, section "
               "7.5.4)")
        .field("occupancy", &P::occupancy, 0.5, range(0.0, 1.0),
               "share of the pages of such a frame that are foreign")
        .only_if("occupancy", "with index above 0", [](const P& p) { return p.index > 0; });
  }
};

}  // namespace lockstep
