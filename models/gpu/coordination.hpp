/// Parts of a GPU that let policies decide by counts of many components: a coordinator, if a
/// selected policy needs one, and the policies' sides in SMs.
/// Source: architecture.md, section 3 (plug points).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/engine/graph.hpp"
#include "models/coordinator/coordinator.hpp"
#include "models/coordinator/policy_epochs.hpp"
#include "models/coordinator/sm_side.hpp"
#include "models/gpu/link_table.hpp"
#include "models/gpu/machine_parameters.hpp"

namespace lockstep {

class Coordination {
 public:
  /// `parameters` must outlive this.
  Coordination(const MachineParameters& parameters, std::size_t tenants);

  /// Components among which a policy decides, and the largest latency of a link between them.
  struct Members {
    std::vector<ComponentId> partitions;
    ComponentId gmmu;
    std::vector<ComponentId> sms;
    Time latency;
    std::string prefix = {};  ///< prefix of the names of the GPU's kinds
    std::optional<std::uint32_t> group = {};
  };
  /// Adds the coordinator and its links to the graph if a selected policy has a controller.
  void lay_out(Graph& graph, const Members& members);

  const std::optional<ComponentId>& component() const { return component_; }
  std::unique_ptr<Component> build(const LinkTable& links) const;
  /// Returns what a component tells the coordinator, and when; nothing if the component takes no
  /// part.
  PolicyEpochs epochs_of(ComponentId component, const LinkTable& links) const;
  /// Returns the parts of the selected policies that stand in the SM with number `sm`.
  std::vector<SmSideChoice> sm_sides(std::uint32_t sm, ComponentId component) const;

 private:
  std::vector<Coordinator::Controller> controllers() const;

  const MachineParameters& parameters_;
  std::size_t tenants_;
  std::optional<ComponentId> component_;
  KindId kind_;
  PolicyEpochs::Periods periods_{};
  std::vector<ComponentId> members_;
};

}  // namespace lockstep
