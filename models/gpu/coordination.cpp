/// The parts of a machine that let policies in many components decide by what all of them see: a
/// coordinator, if a selected policy needs one, and policies' sides in SMs.
/// Source: architecture.md, section 3 (plug points).
#include "models/gpu/machine.hpp"

namespace lockstep {

/// Of the selected policies, those whose parts follow what all of them count.
std::vector<Coordinator::Controller> Machine::controllers() const {
  const PolicyParameters& policies = parameters_.policies;
  std::vector<Coordinator::Controller> all;
  const auto add = [&](EpochTopic topic, const auto& registry, const PolicyChoice& choice,
                       Frequency clock) {
    if (const MakeEpochController make = registry.factory(choice).controller)
      all.push_back({topic, make({choice, scenario_.tenants.size(), Clock(clock).period()})});
  };
  const GpuParameters& gpu = parameters_.gpu;
  add(EpochTopic::cache_policy, cache_policy_registry(), policies.cache_policy, gpu.memory.clock);
  add(EpochTopic::dram_scheduler, dram_schedulers(), policies.dram_scheduler,
      gpu.memory.dram.clock);
  add(EpochTopic::translation, translation_paths(), policies.translation, gpu.vm.clock);
  add(EpochTopic::tlb_fill, tlb_fills(), policies.tlb_fill, gpu.vm.clock);
  return all;
}

void Machine::add_coordinator(std::vector<ComponentId> members, Time latency) {
  constexpr double weight = 0.01, traffic = 0.001;
  coordinator_ = graph_.add_component(graph_.add_kind("coordinator"), weight);
  members.push_back(gmmu_);
  if (!sm_sides(0).empty()) members.insert(members.end(), sms_.begin(), sms_.end());
  for (const ComponentId member : members) {
    to_coordinator_[member] = graph_.connect(member, *coordinator_, latency, traffic);
    from_coordinator_.push_back(graph_.connect(*coordinator_, member, latency, traffic));
  }
}

PolicyEpochs Machine::epochs_of(ComponentId component) const {
  if (!coordinator_ || !to_coordinator_.contains(component)) return {};
  return {graph_.link(to_coordinator_.at(component)), epoch_periods_};
}

/// Of the selected policies, the parts that stand in an SM.
std::vector<SmSideChoice> Machine::sm_sides(std::uint32_t sm) const {
  std::vector<SmSideChoice> sides;
  const auto add = [&](EpochTopic topic, const SmSideFactory& factory, const PolicyChoice& choice,
                       Frequency clock) {
    if (factory.make == nullptr) return;
    sides.push_back({topic,
                     factory,
                     {choice, Clock(clock).period(), sm, parameters_.gpu.sm.warps,
                      scenario_.tenants.size(), parameters_.simulation.seed, sms_[sm]}});
  };
  const PolicyParameters& policies = parameters_.policies;
  add(EpochTopic::cache_policy, cache_policy_registry().factory(policies.cache_policy).sm_side,
      policies.cache_policy, parameters_.gpu.memory.clock);
  add(EpochTopic::tlb_fill, tlb_fills().factory(policies.tlb_fill).sm_side, policies.tlb_fill,
      parameters_.gpu.vm.clock);
  return sides;
}

std::unique_ptr<Component> Machine::build_coordinator() const {
  return std::make_unique<Coordinator>(controllers(), links(from_coordinator_));
}

}  // namespace lockstep
