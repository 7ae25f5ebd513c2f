#pragma once

#include <span>

#include "models/gpu/machine_parameters.hpp"

namespace lockstep {

/// A resource that tenants share, and whose waiting is counted by who waits and who is served:
/// /interference/<name> of the output, [victim, culprit], in nanoseconds.
/// Source: own choice.
struct SharedResource {
  const char* name;
  const char* kind;   ///< of the statistics that count it
  const char* field;  ///< [tenants, tenants], in cycles
  const char* doc;
  Frequency (*clock)(const GpuParameters&);  ///< of those cycles
};
std::span<const SharedResource> shared_resources();

}  // namespace lockstep
