#pragma once

#include <string>

#include "core/parameters/policy.hpp"

namespace lockstep {

/// The implementation of a plug point with this name, and its default parameters.
inline PolicyChoice policy_named(const PolicyList& list, const std::string& name) {
  for (const PolicyInfo& info : list)
    if (info.name == name) return PolicyChoice(info);
  throw InternalError("no policy " + name);
}

}  // namespace lockstep
