#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/parameters/node.hpp"

namespace lockstep {

/// The GPUs of a run, as its configuration lists them.
class GpusOfRun {
 public:
  /// `configuration`: the resolved scenario.
  explicit GpusOfRun(const Node& configuration);

  bool are_several() const { return several_; }
  std::size_t count() const { return configurations_.size(); }
  /// Returns the resolved scenario as if a GPU were the only one, with that GPU under `gpu`.
  const Node& configuration(std::size_t gpu) const { return configurations_[gpu]; }
  double core_hertz(std::size_t gpu) const;
  /// Returns the number of each tenant's GPU; the first of several.
  std::size_t gpu_of(std::size_t tenant) const { return several_ ? gpu_of_tenant_[tenant] : 0; }
  /// Returns the number of tenants with a GPU of their own choice or placement: all, or none if
  /// there is one GPU.
  std::size_t placed() const { return gpu_of_tenant_.size(); }
  /// Returns the tenants that name the GPU, among others or alone, ascending.
  std::vector<std::size_t> tenants_on(std::size_t gpu) const;
  /// Returns the beginning of the names of a GPU's counters: "gpu1/", or "".
  std::string prefix(std::size_t gpu) const;
  /// Returns the names of the GPUs for a reader: "v100", "2 x v100", "v100, a100".
  std::string title() const;

 private:
  bool several_ = false;
  std::vector<Node> configurations_;
  std::vector<std::size_t> gpu_of_tenant_;          ///< GPU of each tenant; of several, the first
  std::vector<std::vector<std::size_t>> all_gpus_;  ///< all GPUs of each tenant, in any order
};

}  // namespace lockstep
