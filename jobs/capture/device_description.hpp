/// The GPU of a configuration as programs see it.
#pragma once

#include "jobs/capture/protocol.hpp"
#include "models/gpu/machine_parameters.hpp"
#include "models/sm/parameters/occupancy.hpp"

namespace lockstep::capture {

/// Returns the compute capability of the GPU as PTX writes it: 70 for 7.0.
std::uint32_t architecture_of(const GpuParameters& gpu);
OccupancyLimits limits_of(const GpuParameters& gpu);
DeviceDescription describe_device(const GpuParameters& gpu);

}  // namespace lockstep::capture
