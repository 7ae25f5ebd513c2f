#pragma once

#include <string>

#include "core/parameters/document.hpp"
#include "core/parameters/parameters.hpp"
#include "models/sm/exception_scheme/registry.hpp"

namespace lockstep {

/// A scheme as a scenario names it: `replay-queue`, or `{name: operand-log, bytes: 8KiB}`.
inline PolicyChoice scheme_choice(const std::string& text) {
  struct Policies {
    PolicyChoice scheme;
    static auto schema() {
      return parameters<Policies>().policy("scheme", &Policies::scheme, "stall-on-fault",
                                           exception_scheme_policies, "The scheme.");
    }
  };
  return read_parameters<Policies>(parse_document("scheme: " + text, "test")).scheme;
}

}  // namespace lockstep
