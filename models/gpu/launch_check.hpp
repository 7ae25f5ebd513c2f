#pragma once

#include <functional>
#include <vector>

#include "models/gpu/machine_parameters.hpp"
#include "models/isa/program.hpp"
#include "models/sm/parameters/occupancy.hpp"
#include "models/workload/kernel_arguments.hpp"
#include "models/workload/scenario.hpp"
#include "models/workload/workload.hpp"

namespace lockstep {

using OfLaunch =
    std::function<void(const Step&, std::size_t, const LaunchShape&, const BlockResources&)>;

/// Calls function(step, kernel's index, shape, block) for each launch of the workload, with loop
/// counters at their first value.
void for_each_launch(const Workload& workload, const isa::Module& module,
                     const OccupancyLimits& limits, const OfLaunch& function);

/// A kernel launched with blocks too large for the number of registers that it uses.
struct TightKernel {
  std::size_t kernel = 0;       ///< number of the kernel in the module
  std::uint32_t threads = 0;    ///< threads of the largest block that fits
  std::uint32_t registers = 0;  ///< registers that a thread of such a block may have
};
/// Returns the tight kernels, by kernel.  Launches that state their registers do not count.
std::vector<TightKernel> find_tight_kernels(const Workload& workload, const isa::Module& module,
                                            const OccupancyLimits& limits);

/// Checks before the run, with loop counters at their first value, that a block of every launch
/// fits an SM, and that all blocks of a launch with a grid-wide barrier fit the `sms` SMs together.
/// Throws UserError at the launch.
void check_launches(const Workload& workload, const isa::Module& module,
                    const OccupancyLimits& limits, std::uint32_t sms);

/// Checks that kernels of tenants that may lose SMs can be stopped as the preemption does it:
/// flushed, or at preemption points within the time that an urgent tenant grants.  Throws UserError
/// at the tenant.
void check_victims(const Scenario& scenario, const MachineParameters& parameters,
                   const std::vector<const isa::Module*>& modules,
                   const std::vector<std::uint16_t>& module_of_tenant);

}  // namespace lockstep
