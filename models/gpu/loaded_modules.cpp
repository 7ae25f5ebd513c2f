#include "models/gpu/loaded_modules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "models/gpu/cluster_check.hpp"
#include "models/gpu/launch_check.hpp"
#include "models/gpu/policy_check.hpp"
#include "models/isa/load.hpp"
#include "models/isa/text/kernel_title.hpp"
#include "models/sm/exception_scheme/registry.hpp"
#include "models/workload/kernel_arguments.hpp"

namespace lockstep {
namespace {

using Files = std::vector<std::string>;  // files of a module; none: the tenant runs on a CPU core

std::map<Files, std::set<std::string>> launched_by_module(const Scenario& scenario) {
  std::map<Files, std::set<std::string>> launched;
  for (const Tenant& tenant : scenario.tenants) {
    const Files files = tenant.workload.module_files();
    for (const std::string& file : files)
      if (!tenant.cpu) require_file(file, tenant.workload.module_where);
    launched[files].merge(launched_kernels(tenant.workload));
  }
  return launched;
}

}  // namespace

SharingSetup sharing_setup(const Scenario& scenario, const MachineParameters& parameters) {
  SharingSetup setup{parameters.gpu.sm.count, {}};
  for (const Tenant& tenant : scenario.tenants)
    setup.sms_per_tenant.push_back(tenant.cpu ? SharingSetup::no_sms : tenant.sms);
  return setup;
}

LoadedModules::LoadedModules(const Scenario& scenario, const MachineParameters& parameters,
                             isa::LoweringOptions lowering) {
  const auto save = steps_of(parameters.policies.preemption).save;
  lowering.preemption_points = save && save->stops == StopPlaces::points;
  const SmParameters& sm = parameters.gpu.sm;
  lowering.unroll_loops = sm.unroll_loops;
  lowering.matrices = std::nullopt;
  if (sm.units[isa::Unit::tensor] > 0)
    lowering.matrices = isa::arithmetic_of(parameters.gpu.compute_capability);
  lowering.bulk_copies = sm.bulk.on();
  lowering.clusters = parameters.gpu.has_clusters();
  const auto limits = sm.occupancy_limits(log_entries_of(parameters.policies.exception_scheme));
  std::map<Files, std::set<std::string>> launched = launched_by_module(scenario);
  std::vector<Files> known;
  std::vector<isa::ModuleLoader> loaders;
  for (const Tenant& tenant : scenario.tenants) {
    const Files files = tenant.workload.module_files();
    const auto found = std::find(known.begin(), known.end(), files);
    module_of_tenant_.push_back(static_cast<std::uint16_t>(found - known.begin()));
    if (found == known.end()) {
      known.push_back(files);
      loaders.push_back(tenant.cpu ? isa::ModuleLoader({}, lowering)
                                   : isa::open_modules(files, lowering));
      isa::Module& module = *modules_.emplace_back(std::make_unique<isa::Module>());
      if (tenant.cpu) continue;
      module = loaders.back().module();
      loaders.back().load(module, isa::kernels_named(module, launched[files]));
    }
    if (!tenant.cpu) validate_workload(tenant.workload, *modules_[module_of_tenant_.back()]);
  }
  fit_registers(scenario, loaders, limits);
  const auto sharing =
      make_sharing(parameters.policies.sharing, sharing_setup(scenario, parameters));
  for (std::size_t t = 0; t < scenario.tenants.size(); ++t) {
    const Tenant& tenant = scenario.tenants[t];
    if (tenant.cpu) continue;
    const TenantId number{static_cast<std::uint16_t>(t)};
    check_launches(tenant.workload, of_tenant(t), limits, sharing->sms_of(number));
    launches_clusters_ |= check_clusters(
        tenant.workload, of_tenant(t), limits, parameters.gpu, [&](std::uint32_t index) {
          return sharing->may_have(number, SmId{static_cast<std::uint16_t>(index)});
        });
  }
}

/// Lowers kernels again whose largest block needs more registers than an SM has, as if the source
/// had named that block's threads.
void LoadedModules::fit_registers(const Scenario& scenario, std::vector<isa::ModuleLoader>& loaders,
                                  const OccupancyLimits& limits) {
  std::map<std::pair<std::uint16_t, std::size_t>, TightKernel> tight;
  for (std::size_t t = 0; t < scenario.tenants.size(); ++t) {
    if (scenario.tenants[t].cpu) continue;
    for (const TightKernel& kernel :
         find_tight_kernels(scenario.tenants[t].workload, of_tenant(t), limits)) {
      TightKernel& largest = tight[{module_of_tenant_[t], kernel.kernel}];
      if (kernel.threads > largest.threads) largest = kernel;
    }
  }
  for (const auto& [place, kernel] : tight) {
    isa::Module& module = *modules_[place.first];
    const isa::Program& program = module.kernels[kernel.kernel].lowered;
    const std::uint32_t wanted = program.registers_per_thread;
    const std::uint32_t local = program.local_bytes;
    loaders[place.first].limit_registers(module, static_cast<std::uint32_t>(kernel.kernel),
                                         kernel.registers);
    // The launch of the kernel is refused elsewhere.
    if (program.registers_per_thread > kernel.registers) continue;
    notes_.push_back(
        fmt::format("kernel {} wants {} registers a thread: with blocks of {} threads it gets {}, "
                    "and {} bytes of local memory",
                    isa::kernel_title(program.name), wanted, kernel.threads,
                    program.registers_per_thread, program.local_bytes - local));
  }
}

std::vector<const isa::Module*> LoadedModules::pointers() const {
  std::vector<const isa::Module*> result;
  for (const auto& module : modules_) result.push_back(module.get());
  return result;
}

std::size_t LoadedModules::longest_kernel_name() const {
  std::size_t longest = 0;
  for (const auto& module : modules_)
    for (const isa::Kernel& kernel : module->kernels)
      longest = std::max(longest, isa::kernel_title(kernel.reference.name).size());
  return longest;
}

}  // namespace lockstep
