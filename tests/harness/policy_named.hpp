#pragma once

#include <algorithm>
#include <string>
#include <vector>

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

/// Returns the names of policies, or of the rows of a registry.
template <class Rows>
std::vector<std::string> names_of(const Rows& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.push_back(row.name);
  return names;
}

/// Names tests by a parameter that is the name of a policy: GoogleTest takes no hyphens.
struct NamedByPolicy {
  template <class Tested>
  std::string operator()(const Tested& tested) const {
    std::string name = tested.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
  }
};

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
