#pragma once

#include <string>

#include "core/parameters/document.hpp"
#include "core/parameters/parameters.hpp"
#include "core/parameters/policy.hpp"

namespace lockstep {

/// The implementation of a plug point with this name, and its default parameters.
inline PolicyChoice policy_named(const PolicyList& list, const std::string& name) {
  for (const PolicyInfo& info : list)
    if (info.name == name) return PolicyChoice(info);
  throw InternalError("no policy " + name);
}

/// The same as a scenario names it: `replay-queue`, or `{name: operand-log, bytes: 8KiB}`.
template <const PolicyList& (*policies)()>
PolicyChoice policy_written(const std::string& text) {
  struct Written {
    PolicyChoice choice;
    static auto schema() {
      return parameters<Written>().policy("choice", &Written::choice, policies()[0].name.c_str(),
                                          policies, "The policy.");
    }
  };
  return read_parameters<Written>(parse_document("choice: " + text, "test")).choice;
}

}  // namespace lockstep
