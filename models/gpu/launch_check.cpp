#include "models/gpu/launch_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/error/error.hpp"
#include "models/dispatch/preemption/preemption.hpp"
#include "models/isa/encode/idempotence.hpp"
#include "models/isa/text/kernel_title.hpp"
#include "models/sm/exception_scheme/registry.hpp"
#include "models/workload/recorded_program.hpp"

namespace lockstep {

namespace {

void check_grid_wide(const Step& step, const isa::Program& kernel, const LaunchShape& shape,
                     std::uint64_t room) {
  const std::uint64_t blocks = std::uint64_t{shape.blocks[0]} * shape.blocks[1] * shape.blocks[2];
  if (blocks <= room) return;
  throw UserError(step.where,
                  "kernel " + isa::kernel_title(kernel.name) +
                      " waits for all its blocks at a grid-wide barrier, but " +
                      std::to_string(room) + " of " + std::to_string(blocks) +
                      " blocks can be on the GPU at once",
                  "launch fewer blocks");
}

bool has_points(const isa::Program& kernel) {
  return std::any_of(kernel.instructions.begin(), kernel.instructions.end(),
                     [](const auto& one) { return (one.flags & isa::flag_preemption_point) != 0; });
}

/// Returns whether every thread begins with an instruction that cannot be repeated, before any
/// branch, barrier or end.
bool begins_beyond_repeat(const isa::Program& kernel) {
  for (const isa::GlobalUse::Write& write : isa::find_global_use(kernel).writes) {
    const auto here = kernel.instructions.begin() + write.pc;
    if ((write.origins & isa::from_anywhere) == 0 || here->guard != isa::no_predicate) continue;
    return std::none_of(kernel.instructions.begin(), here, [](const isa::Instruction& before) {
      return before.category >= isa::Category::branch &&
             before.category <= isa::Category::warp_barrier;
    });
  }
  return false;
}

/// Refuses code without preemption points, which runs to its end even if the tenant that wants the
/// SM cannot wait so long.
void refuse_without_points(const Tenant& victim, const Tenant& urgent, const isa::Program& kernel) {
  if (urgent.latency_bound == Time::never() || has_points(kernel)) return;
  throw UserError(victim.where,
                  "kernel " + isa::kernel_title(kernel.name) + " of tenant " + victim.name +
                      " has no preemption points: with policies.preemption points: selective its "
                      "blocks run to their end, and tenant " +
                      urgent.name + " has a latency_bound",
                  "choose points: none, or leave the latency_bound out");
}

void refuse_beyond_repeat(const Tenant& victim, const Tenant& urgent, const isa::Program& kernel) {
  if (!begins_beyond_repeat(kernel)) return;
  throw UserError(victim.where,
                  "kernel " + isa::kernel_title(kernel.name) + " of tenant " + victim.name +
                      " begins with an atomic operation, a printf or a store that cannot be "
                      "repeated: policies.preemption flush can never drop a block of it for "
                      "tenant " +
                      urgent.name,
                  "choose preemption: drain, switch or chimera");
}

/// Returns the threads, in whole warps, for whose registers an SM has room.
std::uint32_t largest_block(const isa::Program& kernel, const LaunchShape& shape,
                            const OccupancyLimits& limits) {
  const BlockResources warp = block_resources(kernel, isa::warp_size, 0, limits, shape.registers);
  return std::min(limits.registers / warp.registers * isa::warp_size, limits.threads_per_block);
}

[[noreturn]] void refuse_block(const Step& step, const isa::Program& kernel,
                               const LaunchShape& shape, const BlockResources& block,
                               const OccupancyLimits& limits, const std::string& why) {
  if (block.registers <= limits.registers)
    throw UserError(step.where, "kernel " + isa::kernel_title(kernel.name) + ": " + why,
                    "make the block or its needs smaller, or the SM larger");
  throw UserError(step.where,
                  fmt::format("kernel {}: {} ({} threads with {} registers each{})",
                              isa::kernel_title(kernel.name), why, block.threads,
                              shape.registers != 0 ? shape.registers : kernel.registers_per_thread,
                              shape.registers != 0 ? ", as the launch states" : ""),
                  fmt::format("launch at most {} threads a block, or make the SM larger",
                              largest_block(kernel, shape, limits)));
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
  if (workload.is_recorded())
    return for_each_recorded_launch(workload, [&](const Step& launch) {
      for_each_launch({launch}, module, limits, {}, function);
    });
  for_each_launch(workload.program, module, limits, workload.parameters, function);
}

std::vector<TightKernel> find_tight_kernels(const Workload& workload, const isa::Module& module,
                                            const OccupancyLimits& limits) {
  std::map<std::size_t, TightKernel> tight;
  for_each_launch(
      workload, module, limits,
      [&](const Step&, std::size_t index, const LaunchShape& shape, const BlockResources& block) {
        if (shape.registers != 0 || block.registers <= limits.registers) return;
        TightKernel& kernel = tight[index];
        if (block.threads > kernel.threads)
          kernel = {index, block.threads, registers_that_fit(block.threads, limits)};
      });
  std::vector<TightKernel> result;
  for (const auto& [index, kernel] : tight) result.push_back(kernel);
  return result;
}

void check_launches(const Workload& workload, const isa::Module& module,
                    const OccupancyLimits& limits, std::uint32_t sms) {
  for_each_launch(workload, module, limits,
                  [&](const Step& step, std::size_t index, const LaunchShape& shape,
                      const BlockResources& block) {
                    const isa::Program& kernel = module.kernels[index].lowered;
                    const std::string why = why_block_does_not_fit(block, limits);
                    if (!why.empty()) refuse_block(step, kernel, shape, block, limits, why);
                    if (module.meets_grid_wide(kernel))
                      check_grid_wide(step, kernel, shape,
                                      std::uint64_t{sms} * blocks_per_sm(block, limits));
                  });
}

void check_victims(const Scenario& scenario, const MachineParameters& parameters,
                   const std::vector<const isa::Module*>& modules,
                   const std::vector<std::uint16_t>& module_of_tenant) {
  const PolicyParameters& policies = parameters.policies;
  const OccupancyLimits limits =
      parameters.gpu.sm.occupancy_limits(log_entries_of(policies.exception_scheme));
  const PreemptionSteps steps = steps_of(policies.preemption);
  const bool flushes_alone = steps.flush && !steps.save;
  const bool saves_alone = steps.save && !steps.flush;
  if (!flushes_alone && !(saves_alone && steps.save->stops == StopPlaces::points)) return;
  for (std::size_t t = 0; t < scenario.tenants.size(); ++t) {
    const Tenant& victim = scenario.tenants[t];
    for (const Tenant& urgent : scenario.tenants) {
      if (victim.cpu || urgent.cpu || urgent.priority <= victim.priority) continue;
      const isa::Module& module = *modules[module_of_tenant[t]];
      for_each_launch(victim.workload, module, limits,
                      [&](const Step&, std::size_t index, const auto&, const auto&) {
                        const isa::Program& kernel = module.kernels[index].lowered;
                        if (flushes_alone) refuse_beyond_repeat(victim, urgent, kernel);
                        if (saves_alone) refuse_without_points(victim, urgent, kernel);
                      });
    }
  }
}

}  // namespace lockstep
