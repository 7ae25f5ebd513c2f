#pragma once

#include <cstdint>
#include <vector>

#include "models/workload/scenario.hpp"

namespace lockstep {

/// Returns the priority of each tenant.
inline std::vector<std::uint32_t> priorities_of(const std::vector<Tenant>& tenants) {
  std::vector<std::uint32_t> result;
  for (const Tenant& tenant : tenants) result.push_back(tenant.priority);
  return result;
}

}  // namespace lockstep
