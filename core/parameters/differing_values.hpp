#pragma once

#include <string>
#include <vector>

#include "core/parameters/node.hpp"

namespace lockstep {

struct DifferingValue {
  std::string key;   ///< key such as "gpu.sm.count" or "policies.eviction"
  std::string a, b;  ///< values on both sides; "-": the side lacks the key
};

/// Returns the values in which two resolved configurations differ, in their order.  A policy's name
/// is listed under the key of the policy; where names differ, parameters are not compared.
std::vector<DifferingValue> differing_values(const Node& a, const Node& b);

}  // namespace lockstep
