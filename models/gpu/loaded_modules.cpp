#include "models/gpu/loaded_modules.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "models/gpu/launch_check.hpp"
#include "models/isa/load.hpp"
#include "models/sm/exception_scheme/registry.hpp"
#include "models/workload/kernel_arguments.hpp"

namespace lockstep {
namespace {

using Files = std::vector<std::string>;  // of a module; none: its tenant runs on a CPU core

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

LoadedModules::LoadedModules(const Scenario& scenario, const MachineParameters& parameters,
                             isa::LoweringOptions lowering) {
  lowering.preemption_points =
      saving_of(parameters.policies.preemption).stops == StopPlaces::points;
  const SmParameters& sm = parameters.gpu.sm;
  lowering.unroll_loops = sm.unroll_loops;
  std::map<Files, std::set<std::string>> launched = launched_by_module(scenario);
  std::vector<Files> known;
  for (const Tenant& tenant : scenario.tenants) {
    const Files files = tenant.workload.module_files();
    const auto found = std::find(known.begin(), known.end(), files);
    module_of_tenant_.push_back(static_cast<std::uint16_t>(found - known.begin()));
    if (found == known.end()) {
      known.push_back(files);
      modules_.push_back(std::make_unique<isa::Module>(
          tenant.cpu ? isa::Module() : isa::load_modules(files, lowering, launched[files])));
    }
    if (tenant.cpu) continue;
    const isa::Module& module = *modules_[module_of_tenant_.back()];
    validate_workload(tenant.workload, module);
    const auto limits = sm.occupancy_limits(log_entries_of(parameters.policies.exception_scheme));
    check_launches(tenant.workload, module, limits, sm.count);
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
      longest = std::max(longest, kernel.reference.name.size());
  return longest;
}

}  // namespace lockstep
