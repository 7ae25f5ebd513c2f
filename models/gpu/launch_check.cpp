#include "models/gpu/launch_check.hpp"

#include <algorithm>

#include "core/error/error.hpp"
#include "models/workload/recorded_program.hpp"

namespace lockstep {

namespace {

/// Blocks wait for all others of the grid: those that find no room would never come.
bool meets_grid_wide(const isa::Program& kernel, const isa::Module& module) {
  return std::any_of(kernel.constants.begin(), kernel.constants.end(),
                     [&](const isa::ConstantRow& row) {
                       return row.source == isa::ConstantRow::Source::global_symbol &&
                              module.globals[row.index].name == isa::grid_workspace_name;
                     });
}

void check_grid_wide(const Step& step, const isa::Program& kernel, const LaunchShape& shape,
                     std::uint64_t room) {
  const std::uint64_t blocks = std::uint64_t{shape.blocks[0]} * shape.blocks[1] * shape.blocks[2];
  if (blocks <= room) return;
  throw UserError(step.where,
                  "kernel " + kernel.name +
                      " waits for all its blocks at a grid-wide barrier, but " +
                      std::to_string(room) + " of " + std::to_string(blocks) +
                      " blocks can be on the GPU at once",
                  "launch fewer blocks");
}

void for_each_launch(const std::vector<Step>& steps, const isa::Module& module,
                     const OccupancyLimits& limits, const Variables& variables,
                     const OfLaunch& function) {
  for (const Step& step : steps) {
    Variables inner = variables;
    if (!step.counter.empty()) inner[step.counter] = 0;
    for_each_launch(step.body, module, limits, inner, function);
    if (step.kind != Step::Kind::launch) continue;
    const std::size_t index = find_kernel(step, module);
    const isa::Program& kernel = module.kernels[index].lowered;
    const LaunchShape shape = launch_shape(kernel, step, variables);
    const std::uint32_t threads = shape.threads[0] * shape.threads[1] * shape.threads[2];
    function(step, index, shape,
             block_resources(kernel, threads, shape.dynamic_shared_bytes, limits, shape.registers));
  }
}

}  // namespace

void for_each_launch(const Workload& workload, const isa::Module& module,
                     const OccupancyLimits& limits, const OfLaunch& function) {
  if (workload.recording)
    return for_each_recorded_launch(workload, [&](const Step& launch) {
      for_each_launch({launch}, module, limits, {}, function);
    });
  for_each_launch(workload.program, module, limits, workload.parameters, function);
}

void check_launches(const Workload& workload, const isa::Module& module,
                    const OccupancyLimits& limits, std::uint32_t sms) {
  for_each_launch(workload, module, limits,
                  [&](const Step& step, std::size_t index, const LaunchShape& shape,
                      const BlockResources& block) {
                    const isa::Program& kernel = module.kernels[index].lowered;
                    const std::string why = why_block_does_not_fit(block, limits);
                    if (!why.empty())
                      throw UserError(step.where, "kernel " + kernel.name + ": " + why,
                                      "make the block or its needs smaller, or the SM larger");
                    if (meets_grid_wide(kernel, module))
                      check_grid_wide(step, kernel, shape,
                                      std::uint64_t{sms} * blocks_per_sm(block, limits));
                  });
}

}  // namespace lockstep
