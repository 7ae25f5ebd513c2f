#pragma once

#include "core/parameters/parameters.hpp"

namespace lockstep {

/// Of `page_manager: mosaic`.
struct MosaicParameters {
  bool coalesce = true;

  static auto schema() {
    using P = MosaicParameters;
    return parameters<P>().field("coalesce", &P::coalesce, true,
                                 "pages that fill a large frame in their order become a large page "
                                 "in place (004, section 7.3.3)");
  }
};

}  // namespace lockstep
