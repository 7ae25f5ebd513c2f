#include "models/gpu/launch_check.hpp"

#include "core/error/error.hpp"
#include "models/host/kernel_arguments.hpp"

namespace lockstep {

namespace {

void check_steps(const std::vector<Step>& steps, const isa::Module& module,
                 const OccupancyLimits& limits, const Variables& variables) {
  for (const Step& step : steps) {
    Variables inner = variables;
    if (!step.counter.empty()) inner[step.counter] = 0;
    check_steps(step.body, module, limits, inner);
    if (step.kind != Step::Kind::launch) continue;
    const isa::Program& kernel = module.kernels[find_kernel(step, module)].lowered;
    const LaunchShape shape = launch_shape(kernel, step, variables);
    const std::uint32_t threads = shape.threads[0] * shape.threads[1] * shape.threads[2];
    const std::string why = why_block_does_not_fit(
        block_resources(kernel, threads, shape.dynamic_shared_bytes, limits), limits);
    if (why.empty()) continue;
    throw UserError(step.where, "kernel " + kernel.name + ": " + why,
                    "make the block or its needs smaller, or the SM larger");
  }
}

}  // namespace

void check_launches(const Workload& workload, const isa::Module& module,
                    const OccupancyLimits& limits) {
  check_steps(workload.program, module, limits, workload.parameters);
}

}  // namespace lockstep
