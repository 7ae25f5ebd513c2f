#pragma once

#include <string>
#include <vector>

#include "core/parameters/node.hpp"

namespace lockstep {

struct DifferingValue {
  std::string key;   ///< key such as "gpu.sm.count" or "policies.eviction"
  std::string a, b;  ///< values on both sides; "-": the side lacks the key
};

/// The values in which two resolved configurations differ, in their order.  A policy's name stands
/// under the key of the policy; where names differ, parameters do not count.
std::vector<DifferingValue> differing_values(const Node& a, const Node& b);

}  // namespace lockstep
