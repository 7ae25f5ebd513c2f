#pragma once

#include <span>

#include "models/gpu/machine_parameters.hpp"

namespace lockstep {

/// A resource that tenants share, with counts of the tenant that waits or loses a place and of the
/// tenant that causes it: /interference/<name> of the output, [victim, culprit].
/// Source: own choice.
struct SharedResource {
  const char* name;
  const char* kind;   ///< kind of the statistics that count the resource
  const char* field;  ///< name of the field with shape [tenants, tenants]
  const char* unit;   ///< unit of the matrix
  const char* doc;
  /// The matrix is in nanoseconds, the field in cycles of this clock; nullptr: in femtoseconds if
  /// the matrix is in nanoseconds, otherwise as counted.
  Frequency (*clock)(const GpuParameters&) = nullptr;
  /// Number of the component that is the resource; -1: all of the kind together.
  int instance = -1;

  /// Returns the factor from units of the field to units of the matrix.
  double scale(const GpuParameters& gpu) const;
};
std::span<const SharedResource> shared_resources();
/// Returns the uplink, at which tenants on several GPUs meet.
const SharedResource& shared_uplink();
/// Returns the resources of each GPU that has links to other GPUs.
std::span<const SharedResource> port_resources();

}  // namespace lockstep
