/// Builder of a GPU of the machine: its components, their links and their construction.
///
/// Source: architecture.md, sections 2 (kinds, links), 3 and 8 ("Horizons and ranks").
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/engine/graph.hpp"
#include "models/dispatch/victims/block_profile.hpp"
#include "models/gpu/context_memory.hpp"
#include "models/gpu/coordination.hpp"
#include "models/gpu/core_places.hpp"
#include "models/gpu/link_table.hpp"
#include "models/gpu/loaded_modules.hpp"
#include "models/gpu/machine_parameters.hpp"
#include "models/noc/request_sources.hpp"
#include "models/sm/tables/constant_rows.hpp"

namespace lockstep {

class IssueTables;

class GpuBuilder {
 public:
  /// Kinds and components of the GPU in the graph.
  struct Layout {
    KindId dispatcher_kind, gmmu_kind, partition_kind, sm_kind;
    ComponentId dispatcher, gmmu;
    std::vector<ComponentId> partitions, sms;
    // Members of a GPU that has ways to others:
    std::optional<KindId> port_kind = {};
    std::optional<ComponentId> port = {};
    std::uint32_t port_links = 1;  ///< NVLinks of the port
    /// Kind of the component that serves the transfers of the host link; nothing: the host serves
    /// them.
    std::optional<KindId> link_kind = {};
    // Members of a GPU that runs clusters of thread blocks, by GPC:
    std::optional<KindId> hub_kind = {};
    std::vector<ComponentId> hubs = {};
  };
  /// CPU cores that share the GPU's memory, if there are any.
  struct Cores {
    std::optional<KindId> kind;
    std::uint32_t credits = 0;
  };

  /// `scenario`, `parameters` and `modules` must outlive this.
  GpuBuilder(const Scenario& scenario, const MachineParameters& parameters,
             const LoadedModules& modules, const BlockProfile& block_profile);
  GpuBuilder(const GpuBuilder&) = delete;
  GpuBuilder& operator=(const GpuBuilder&) = delete;

  /// Adds the GPU's components to the graph, after the host and possibly components of other GPUs.
  /// Names of the GPU's kinds begin with `prefix`; its components form a group.
  void add_components(Graph& graph, const std::string& prefix = "",
                      std::optional<std::uint32_t> group = {});
  /// Links the components with each other and with the host.
  void connect(Graph& graph, ComponentId host);
  /// Adds the coordinator of the GPU's policies, after all other components.
  void add_coordinator(Graph& graph);

  /// Adds the GPU's port to other GPUs, after the components of all GPUs, and links it with the
  /// GPU's own components and the host.  `links`: number of its NVLinks.
  void add_port(Graph& graph, ComponentId host, std::uint32_t links);
  /// Links the GPU with the component that serves the transfers of its host link.
  void connect_link(Graph& graph, ComponentId unit, Time latency);
  /// `peers`: the other GPUs.
  std::unique_ptr<Component> build_port(const Fabric& fabric, std::uint32_t gpu,
                                        const std::vector<std::uint32_t>& tenants,
                                        const std::vector<std::pair<std::uint32_t, KindId>>& peers,
                                        const LinkTable& links, KindId host) const;

  const Layout& layout() const { return layout_; }
  bool has(const Graph& graph, ComponentId component) const;
  /// `links`: links of the whole machine; `host`: kind of the host.
  std::unique_ptr<Component> build(const Graph& graph, ComponentId component,
                                   const LinkTable& links, KindId host, const Cores& cores) const;

  const AddressMapping& mapping() const { return mapping_; }
  const CorePlaces& core_places() const { return core_places_; }
  /// Returns the foreign pages in GPU memory before the run.
  const std::vector<Frame>& foreign_pages() const { return foreign_pages_; }
  /// Returns the part of gpu.memory.capacity that is set aside for blocks that leave SMs.
  std::uint64_t context_bytes() const { return context_memory_.bytes(); }
  /// Returns whether copies over the host link may go in stretches (models/noc/copy_stretch.hpp).
  bool copies_in_stretches() const;
  bool has_coordinator() const { return coordination_.component().has_value(); }

 private:
  const std::shared_ptr<const IssueTables>& issue_tables() const;
  std::unique_ptr<Component> build_dispatcher(const LinkTable& links, KindId host) const;
  std::unique_ptr<Component> build_gmmu(const LinkTable& links, KindId host) const;
  std::unique_ptr<Component> build_sm(std::uint32_t index, const LinkTable& links,
                                      KindId host) const;
  std::unique_ptr<Component> build_hub(std::uint32_t gpc, const LinkTable& links) const;
  std::unique_ptr<Component> build_partition(std::uint32_t index, const LinkTable& links,
                                             KindId host, const Cores& cores) const;
  RequestSources request_sources(ComponentId partition, const LinkTable& links, KindId host,
                                 const Cores& cores) const;

  const Scenario& scenario_;
  const MachineParameters& parameters_;
  const LoadedModules& modules_;
  const BlockProfile& block_profile_;
  AddressMapping mapping_;
  mutable std::shared_ptr<const IssueTables> issue_tables_;  ///< tables, made when first asked for
  ContextMemory context_memory_;
  CorePlaces core_places_;
  std::vector<Frame> foreign_pages_;
  const std::shared_ptr<ConstantRows> constant_rows_ = std::make_shared<ConstantRows>();
  std::string prefix_;
  std::optional<std::uint32_t> group_;
  Layout layout_;
  Coordination coordination_;
};

}  // namespace lockstep
