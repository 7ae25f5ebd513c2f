#pragma once

#include <functional>

#include "models/gpu/machine_parameters.hpp"
#include "models/isa/program.hpp"
#include "models/sm/parameters/occupancy.hpp"
#include "models/workload/workload.hpp"

namespace lockstep {

/// Checks before the run that the GPU has thread block clusters if a launch of the workload is in
/// them, and that some GPC has room for one, on SMs that the tenant may have.  Throws UserError at
/// the launch.  Returns whether any launch has clusters of more than one block.
bool check_clusters(const Workload& workload, const isa::Module& module,
                    const OccupancyLimits& limits, const GpuParameters& gpu,
                    const std::function<bool(std::uint32_t)>& may_have);

}  // namespace lockstep
