/// The GPU of a configuration as programs see it.
#pragma once

#include "jobs/capture/protocol.hpp"
#include "models/gpu/machine_parameters.hpp"
#include "models/sm/parameters/occupancy.hpp"

namespace lockstep::capture {

/// Compute capability 8.0, whose PTX the reader knows whole.
inline constexpr std::uint32_t offered_architecture = 80;

OccupancyLimits limits_of(const GpuParameters& gpu);
DeviceDescription describe_device(const GpuParameters& gpu);

}  // namespace lockstep::capture
