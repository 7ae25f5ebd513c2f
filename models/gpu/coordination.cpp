#include "models/gpu/coordination.hpp"

#include <algorithm>

namespace lockstep {

Coordination::Coordination(const MachineParameters& parameters, std::size_t tenants)
    : parameters_(parameters), tenants_(tenants) {}

/// Returns the controllers of the selected policies that decide by counts of the whole machine.
std::vector<Coordinator::Controller> Coordination::controllers() const {
  const PolicyParameters& policies = parameters_.policies;
  std::vector<Coordinator::Controller> all;
  const auto add = [&](EpochTopic topic, const auto& registry, const PolicyChoice& choice,
                       Frequency clock) {
    if (const MakeEpochController make = registry.factory(choice).controller)
      all.push_back({topic, make({choice, tenants_, Clock(clock).period()})});
  };
  const GpuParameters& gpu = parameters_.gpu;
  add(EpochTopic::cache_policy, cache_policy_registry(), policies.cache_policy, gpu.memory.clock);
  add(EpochTopic::dram_scheduler, dram_schedulers(), policies.dram_scheduler,
      gpu.memory.dram.clock);
  add(EpochTopic::translation, translation_paths(), policies.translation, gpu.vm.clock);
  add(EpochTopic::tlb_fill, tlb_fills(), policies.tlb_fill, gpu.vm.clock);
  return all;
}

void Coordination::lay_out(Graph& graph, const Members& members) {
  const std::vector<Coordinator::Controller> all = controllers();
  if (all.empty()) return;
  for (const Coordinator::Controller& one : all)
    periods_[static_cast<std::size_t>(one.topic)] = one.decides->period();
  constexpr double weight = 0.01, traffic = 0.001;
  kind_ = graph.add_kind(members.prefix + "coordinator");
  component_ = graph.add_component(kind_, weight, members.group);
  members_ = members.partitions;
  members_.push_back(members.gmmu);
  if (!sm_sides(0, {}).empty())
    members_.insert(members_.end(), members.sms.begin(), members.sms.end());
  for (const ComponentId member : members_) {
    graph.connect(member, *component_, members.latency, traffic);
    graph.connect(*component_, member, members.latency, traffic);
  }
}

PolicyEpochs Coordination::epochs_of(ComponentId component, const LinkTable& links) const {
  if (std::find(members_.begin(), members_.end(), component) == members_.end()) return {};
  return {links.to_one(component, kind_), periods_};
}

std::vector<SmSideChoice> Coordination::sm_sides(std::uint32_t sm, ComponentId component) const {
  std::vector<SmSideChoice> sides;
  const auto add = [&](EpochTopic topic, const SmSideFactory& factory, const PolicyChoice& choice,
                       Frequency clock) {
    if (factory.make == nullptr) return;
    sides.push_back({topic,
                     factory,
                     {choice, Clock(clock).period(), sm, parameters_.gpu.sm.warps, tenants_,
                      parameters_.simulation.seed, component}});
  };
  const PolicyParameters& policies = parameters_.policies;
  add(EpochTopic::cache_policy, cache_policy_registry().factory(policies.cache_policy).sm_side,
      policies.cache_policy, parameters_.gpu.memory.clock);
  add(EpochTopic::tlb_fill, tlb_fills().factory(policies.tlb_fill).sm_side, policies.tlb_fill,
      parameters_.gpu.vm.clock);
  return sides;
}

std::unique_ptr<Component> Coordination::build(const LinkTable& links) const {
  return std::make_unique<Coordinator>(controllers(), links.from(*component_));
}

}  // namespace lockstep
