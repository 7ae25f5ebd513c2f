/// The CPU cores of a machine: one for each tenant that runs on one, linked with every partition's
/// controller and with the host.
/// Source: memory-interference.md, sections 1.1 and 4.4.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/engine/graph.hpp"
#include "models/gpu/gpu_builder.hpp"

namespace lockstep {

class CpuCores {
 public:
  /// Makes the cores.  `parameters` and `gpu`, whose memory they share, must outlive the object.
  CpuCores(const Scenario& scenario, const MachineParameters& parameters, const GpuBuilder& gpu,
           bool check);

  /// Adds a core for each tenant that runs on one.
  void lay_out(Graph& graph, ComponentId host, const std::string& prefix,
               std::optional<std::uint32_t> group);

  std::size_t count() const { return components_.size(); }
  const std::optional<KindId>& kind() const { return kind_; }
  std::unique_ptr<Component> build(std::uint32_t index, const LinkTable& links, KindId host) const;

 private:
  const Scenario& scenario_;
  const MachineParameters& parameters_;
  const GpuBuilder& gpu_;
  bool check_;
  std::optional<KindId> kind_;
  std::vector<ComponentId> components_;
};

}  // namespace lockstep
