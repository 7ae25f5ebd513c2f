/// The whole simulated machine: which components there are, how they are linked, how each is built.
///
/// Source: architecture.md, sections 2 (kinds, links), 3 and 8 ("Horizons and ranks").
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/graph.hpp"
#include "core/output/recorder.hpp"
#include "models/coordinator/coordinator.hpp"
#include "models/coordinator/policy_epochs.hpp"
#include "models/coordinator/sm_side.hpp"
#include "models/dispatch/victims/block_profile.hpp"
#include "models/gpu/context_memory.hpp"
#include "models/gpu/core_places.hpp"
#include "models/gpu/machine_parameters.hpp"
#include "models/host/printed_lines.hpp"
#include "models/isa/lowering/lowering.hpp"
#include "models/isa/program.hpp"
#include "models/noc/request_sources.hpp"
#include "models/sm/tables/constant_rows.hpp"

namespace lockstep {

class IssueTables;

/// Every rank builds the same machine from the same scenario and then only the components it owns.
class Machine {
 public:
  struct Options {
    bool capture = false;  ///< keep the final GPU bytes of checked buffers
    isa::LoweringOptions lowering;
    bool bounds = true;               ///< accesses outside of buffers end their tenant
    PrintedLines::Sink print = {};    ///< what gets the lines that kernels print
    BlockProfile block_profile = {};  ///< if the preemption goes by one
  };
  /// Loads the modules and validates every launch against them.  `scenario` must outlive this.
  Machine(const Scenario& scenario, const MachineParameters& parameters, const Options& options);
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  const Graph& graph() const { return graph_; }
  const MachineParameters& parameters() const { return parameters_; }
  std::unique_ptr<Component> build(ComponentId component) const;

  ComponentId host() const { return host_; }
  StatisticsLayout statistics_layout() const;
  std::vector<std::string> tenant_names() const;
  std::size_t longest_kernel_name() const;
  /// Instance of the statistics of kind "cpu"; nothing if the tenant is on no core.
  std::optional<std::size_t> core_of_tenant(std::size_t tenant) const {
    return core_places_.core_of(tenant);
  }
  const isa::Module& module_of_tenant(std::size_t tenant) const {
    return *modules_[module_of_tenant_[tenant]];
  }
  /// Of gpu.memory.capacity, for blocks that leave SMs.
  std::uint64_t context_bytes() const { return context_memory_.bytes(); }

 private:
  void load_modules(isa::LoweringOptions lowering);
  const std::shared_ptr<const IssueTables>& issue_tables() const;
  void lay_out();
  std::unique_ptr<Component> build_host() const;
  std::unique_ptr<Component> build_dispatcher() const;
  std::unique_ptr<Component> build_gmmu() const;
  std::unique_ptr<Component> build_sm(std::uint32_t index) const;
  std::unique_ptr<Component> build_partition(ComponentId component) const;
  std::unique_ptr<Component> build_coordinator() const;
  void lay_out_cores(const std::vector<ComponentId>& partitions);
  std::unique_ptr<Component> build_core(std::uint32_t index) const;
  std::vector<Coordinator::Controller> controllers() const;
  void add_coordinator(std::vector<ComponentId> members, Time latency);
  PolicyEpochs epochs_of(ComponentId component) const;
  std::vector<SmSideChoice> sm_sides(std::uint32_t sm) const;
  RequestSources request_sources(std::uint32_t partition) const;
  std::vector<const isa::Module*> module_pointers() const;
  std::vector<Link> links(const std::vector<LinkId>& ids) const;

  const Scenario& scenario_;
  const MachineParameters parameters_;
  const bool capture_, bounds_;
  const PrintedLines::Sink print_;
  const BlockProfile block_profile_;
  std::vector<std::unique_ptr<isa::Module>> modules_;
  std::vector<std::uint16_t> module_of_tenant_;
  AddressMapping mapping_;
  mutable std::shared_ptr<const IssueTables> issue_tables_;  ///< made when first asked for
  ContextMemory context_memory_;
  CorePlaces core_places_;
  std::vector<Frame> foreign_pages_;
  const std::shared_ptr<ConstantRows> constant_rows_ = std::make_shared<ConstantRows>();

  Graph graph_;
  KindId host_kind_, dispatcher_kind_, gmmu_kind_, partition_kind_, sm_kind_;
  ComponentId host_, dispatcher_, gmmu_;
  std::vector<ComponentId> sms_;
  // Links by SM and partition, in canonical order.
  LinkId host_to_dispatcher_, dispatcher_to_host_, host_to_gmmu_, gmmu_to_host_;
  std::vector<LinkId> gmmu_to_sm_, sm_to_gmmu_, gmmu_to_partition_, partition_to_gmmu_;
  std::vector<LinkId> host_to_partition_, partition_to_host_, host_to_sm_, sm_to_host_;
  std::vector<LinkId> dispatcher_to_sm_, sm_to_dispatcher_;
  std::vector<std::vector<LinkId>> sm_to_partition_, partition_to_sm_;  ///< [sender][receiver]

  // Only if tenants run on CPU cores.
  std::optional<KindId> core_kind_;
  std::vector<ComponentId> cores_;
  std::vector<LinkId> core_to_host_, host_to_core_;
  std::vector<std::vector<LinkId>> core_to_partition_, partition_to_core_;  ///< [sender][receiver]

  // Only if a selected policy has a controller.
  std::optional<ComponentId> coordinator_;
  PolicyEpochs::Periods epoch_periods_{};
  std::map<ComponentId, LinkId> to_coordinator_;
  std::vector<LinkId> from_coordinator_;
};

}  // namespace lockstep
