#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/gpu/machine_parameters.hpp"
#include "models/isa/lowering/lowering.hpp"
#include "models/isa/module/module_loader.hpp"
#include "models/isa/program.hpp"

namespace lockstep {

/// Returns facts for a sharing policy: the SMs, and the number that each tenant asks for.
SharingSetup sharing_setup(const Scenario& scenario, const MachineParameters& parameters);

/// Programs of a scenario's tenants, loaded once for each set of module files.
class LoadedModules {
 public:
  /// Loads the modules and validates every launch against them.  Throws UserError.
  LoadedModules(const Scenario& scenario, const MachineParameters& parameters,
                isa::LoweringOptions lowering);

  /// A tenant on a CPU core has an empty module.
  const isa::Module& of_tenant(std::size_t tenant) const {
    return *modules_[module_of_tenant_[tenant]];
  }
  std::vector<const isa::Module*> pointers() const;
  /// Returns, by tenant, an index into pointers().
  const std::vector<std::uint16_t>& module_of_tenant() const { return module_of_tenant_; }
  std::size_t longest_kernel_name() const;
  /// Returns whether a tenant launches clusters of more than one block.
  bool launches_clusters() const { return launches_clusters_; }
  /// Returns lines that tell a user how kernels were made, where that may surprise.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  void fit_registers(const Scenario& scenario, std::vector<isa::ModuleLoader>& loaders,
                     const OccupancyLimits& limits);

  std::vector<std::unique_ptr<isa::Module>> modules_;
  std::vector<std::uint16_t> module_of_tenant_;
  std::vector<std::string> notes_;
  bool launches_clusters_ = false;
};

}  // namespace lockstep
