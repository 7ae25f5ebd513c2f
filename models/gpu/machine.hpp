/// A simulated machine: a host, CPU cores, and a list of GPUs.  Several may stand in one graph.
///
/// Source: architecture.md, sections 2 (kinds, links), 3 and 8 ("Horizons and ranks").
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/graph.hpp"
#include "core/output/recorder.hpp"
#include "models/gpu/gpu_site.hpp"
#include "models/gpu/link_table.hpp"
#include "models/gpu/link_units.hpp"
#include "models/gpu/machine_parameters.hpp"
#include "models/host/host_part.hpp"
#include "models/host/printed_lines.hpp"

namespace lockstep {

/// Every rank builds the same machine from the same scenario, and then only its own components.
class Machine {
 public:
  struct Options {
    bool capture = false;  ///< true: the final GPU bytes of checked buffers are kept
    isa::LoweringOptions lowering;
    bool bounds = true;               ///< true: accesses outside of buffers end their tenant
    PrintedLines::Sink print = {};    ///< receiver of the lines that kernels print
    PrintedLines::Sink warn = {};     ///< receiver of warnings about kernels
    BlockProfile block_profile = {};  ///< durations of blocks, for a preemption that uses a profile
    /// Graph in which the machine's components and links follow those of others; nullptr: a graph
    /// of its own.  The graph must outlive the machine.
    Graph* graph = nullptr;
    std::string prefix = {};  ///< prefix of the names of the GPU's kinds
  };
  /// Loads the modules and validates every launch against them.  `scenario` must outlive the
  /// machine.
  Machine(const Scenario& scenario, const MachineParameters& parameters, const Options& options);
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  const Graph& graph() const { return graph_; }
  const MachineParameters& parameters() const { return parameters_; }
  std::unique_ptr<Component> build(ComponentId component) const;

  ComponentId host() const { return host_; }
  StatisticsLayout statistics_layout() const;
  std::vector<std::string> tenant_names() const;
  /// Returns groups of tenants: with several GPUs, one for each GPU that has tenants.
  std::vector<TenantGroup> tenant_groups() const;
  std::size_t longest_kernel_name() const;
  bool has_uplinks() const { return !uplinks_.empty(); }
  bool has_ports() const { return parameters_.fabric.has_value(); }
  /// Returns the GPUs that have tenants.
  const std::vector<std::unique_ptr<GpuSite>>& sites() const { return sites_; }
  /// GPU on which a tenant runs, and the tenant's number there.
  struct TenantPlace {
    const GpuSite* site = nullptr;
    std::size_t number = 0;
  };
  /// Returns the first place of a tenant that runs on several GPUs.
  const TenantPlace& place_of(std::size_t tenant) const { return site_of_tenant_[tenant]; }
  /// Returns all places of a tenant.
  std::vector<TenantPlace> all_places_of(std::size_t tenant) const;
  /// Returns the GPU of a component.  Precondition: the component is neither the host nor serves
  /// its links.
  const GpuSite& site_of(ComponentId component) const;
  /// Returns the instance of the statistics of kind "cpu"; nothing if the tenant is on no core.
  std::optional<std::size_t> core_of_tenant(std::size_t tenant) const {
    const TenantPlace& place = place_of(tenant);
    return place.site->gpu().core_places().core_of(place.number);
  }
  const isa::Module& module_of_tenant(std::size_t tenant) const {
    const TenantPlace& place = place_of(tenant);
    return place.site->modules().of_tenant(place.number);
  }
  /// Returns lines that tell a user how kernels were made, where that may surprise.
  std::vector<std::string> notes() const;

 private:
  void lay_out(const Options& options);
  void add_ports();
  std::unique_ptr<Component> build_port(const GpuSite& site) const;
  HostPart::Setup part_for(std::size_t number) const;
  std::unique_ptr<Component> build_host() const;

  const Scenario& scenario_;
  const MachineParameters parameters_;
  const bool capture_, bounds_;
  const PrintedLines::Sink print_, warn_;
  const BlockProfile block_profile_;
  const std::vector<UplinkParameters> uplinks_;

  Graph own_graph_;
  Graph& graph_;
  KindId host_kind_;
  ComponentId host_;
  std::vector<std::unique_ptr<GpuSite>> sites_;
  std::vector<TenantPlace> site_of_tenant_;
  LinkTable links_;
  LinkUnits link_units_;
};

}  // namespace lockstep
