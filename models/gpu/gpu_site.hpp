#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/output/recorder.hpp"
#include "models/gpu/cpu_cores.hpp"
#include "models/gpu/gpu_builder.hpp"
#include "models/gpu/loaded_modules.hpp"
#include "models/gpu/machine_parameters.hpp"

namespace lockstep {

/// A GPU of the machine with all that belongs to it alone: its tenants, what it executes of them,
/// the CPU cores that share its memory.
///
/// To its parts it is the only GPU: tenants have the numbers that they would have in a scenario of
/// that GPU and its tenants.
class GpuSite {
 public:
  /// Number of the GPU, and its tenants.
  struct Place {
    std::uint32_t gpu = 0;
    std::vector<std::uint32_t> tenants;  ///< ascending numbers in the scenario
    /// In the graph, if there are several GPUs.
    std::optional<std::uint32_t> group = {};
    std::string prefix = {};  ///< prefix of the names of the GPU's kinds
  };
  struct Options {
    isa::LoweringOptions lowering;
    bool capture = false;
    const BlockProfile& block_profile;  ///< durations of the blocks of all tenants
  };
  /// Makes the site.  `scenario` must outlive it; `parameters`: those of this GPU. Throws UserError
  /// for settings of its tenants that are not possible there.
  GpuSite(const Scenario& scenario, const MachineParameters& parameters, Place place,
          const Options& options);
  GpuSite(const GpuSite&) = delete;
  GpuSite& operator=(const GpuSite&) = delete;

  void lay_out(Graph& graph, ComponentId host);
  /// Adds the GPU's port to other GPUs, after all sites have been laid out.
  void add_port(Graph& graph, ComponentId host, std::uint32_t links) {
    gpu_.add_port(graph, host, links);
  }
  /// Links the GPU with the component that serves the transfers of its host link.
  void connect_link(Graph& graph, ComponentId unit, Time latency) {
    gpu_.connect_link(graph, unit, latency);
  }
  bool has(const Graph& graph, ComponentId component) const;
  std::unique_ptr<Component> build(const Graph& graph, ComponentId component,
                                   const LinkTable& links, KindId host) const;

  const Place& place() const { return place_; }
  /// Returns the part of the scenario that concerns this GPU.
  const Scenario& scenario() const { return own_scenario_ ? *own_scenario_ : scenario_; }
  const MachineParameters& parameters() const { return parameters_; }
  const LoadedModules& modules() const { return modules_; }
  const GpuBuilder& gpu() const { return gpu_; }
  const CpuCores& cores() const { return cores_; }

  /// Adds the kinds of the GPU's components to the statistics of the output, in the order of the
  /// graph.
  void add_kinds(std::vector<KindStatistics>& kinds) const;
  /// Adds the kind of the GPU's port, if it has one, behind the kinds of all sites.
  void add_kind_of_port(std::vector<KindStatistics>& kinds) const;
  /// Adds the kinds of parts of components.
  void add_kinds_of_parts(std::vector<KindStatistics>& kinds) const;

 private:
  void add_kind(std::vector<KindStatistics>& kinds, const std::string& name,
                const StatisticsSchema& schema, std::size_t instances) const;

  const Place place_;
  const Scenario& scenario_;
  const std::unique_ptr<const Scenario> own_scenario_;  ///< scenario of one GPU among several
  const MachineParameters parameters_;
  const LoadedModules modules_;
  const BlockProfile block_profile_;
  GpuBuilder gpu_;
  CpuCores cores_;
};

}  // namespace lockstep
