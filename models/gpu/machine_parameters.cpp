#include "models/gpu/machine_parameters.hpp"

#include <algorithm>

#include "models/gpu/oversubscription.hpp"
#include "models/gpu/peer_check.hpp"
#include "models/gpu/placed_tenants.hpp"
#include "models/gpu/policy_check.hpp"
#include "models/host_link/uplink.hpp"

namespace lockstep {

std::string GpuParameters::gpc_misfit() const {
  std::uint64_t sms = 0;
  for (const std::uint32_t gpc : dispatch.gpcs) sms += gpc;
  if (dispatch.gpcs.empty() || sms == sm.count) return "";
  return "dispatch.gpcs have " + std::to_string(sms) + " SMs in all, and sm.count is " +
         std::to_string(sm.count) + " - make them the same, or give dispatch.gpcs: [" +
         std::to_string(sm.count) + "] for a GPU whose SMs all stand together";
}

std::vector<std::uint32_t> MachineParameters::tenants_on(std::uint32_t number) const {
  std::vector<std::uint32_t> tenants;
  for (std::uint32_t t = 0; t < placement.size(); ++t) {
    const bool is_there = placement[t] == number;
    const bool is_also_there =
        std::find(further[t].begin(), further[t].end(), number) != further[t].end();
    if (is_there || is_also_there) tenants.push_back(t);
  }
  return tenants;
}

MachineParameters MachineParameters::on(std::uint32_t number) const {
  MachineParameters one = *this;
  one.gpu = gpus[number];
  one.gpus.clear();
  one.placement.clear();
  one.further.clear();
  return one;
}

namespace {

/// `scenario`: its part on the GPU.
void resolve_capacity(const Scenario& scenario, MachineParameters& machine) {
  if (machine.gpu.memory.oversubscription <= 0) return;
  machine.gpu.memory.capacity = oversubscribed_capacity(scenario, machine);
  machine.gpu.memory.oversubscription = 0;
}

/// Tenants are placed by the written capacities; capacities that depend on tenants follow later.
void resolve_several(const Scenario& scenario, MachineParameters& machine) {
  for (const Node& gpu : scenario.gpus) {
    machine.gpus.push_back(read_parameters<GpuParameters>(gpu));
    machine.gpus.back().mig = Node();
  }
  machine.placement = place_tenants(scenario, machine);
  for (const Tenant& tenant : scenario.tenants) machine.further.push_back(tenant.gpus);
  for (std::uint32_t number = 0; number < machine.gpus.size(); ++number) {
    const std::vector<std::uint32_t> tenants = machine.tenants_on(number);
    if (tenants.empty()) continue;
    MachineParameters one = machine.on(number);
    resolve_capacity(part_of(scenario, number, tenants), one);
    machine.gpus[number] = one.gpu;
  }
  machine.gpu = machine.gpus.front();
}

PolicyChoice scheduler_of(const SmParameters& sm) {
  const std::string name = sm.warp_scheduler == DefaultScheduler::lrr ? "lrr" : "gto";
  const PolicyList& all = warp_scheduler_policies();
  return PolicyChoice(*std::find_if(all.begin(), all.end(),
                                    [&](const PolicyInfo& policy) { return policy.name == name; }));
}

}  // namespace

MachineParameters resolve_machine(const Scenario& scenario) {
  MachineParameters machine;
  machine.gpu = read_parameters<GpuParameters>(scenario.gpu);
  machine.gpu.mig = Node();  // slices are GPUs of their own from here on
  machine.host = read_parameters<HostParameters>(scenario.host);
  machine.policies = scenario.policies.exists()
                         ? read_parameters<PolicyParameters>(scenario.policies)
                         : defaults<PolicyParameters>();
  if (!scenario.policies.exists() || !scenario.policies.has("warp_scheduler"))
    machine.policies.warp_scheduler = scheduler_of(machine.gpu.sm);
  machine.simulation = scenario.simulation;
  if (scenario.fabric.exists())
    machine.fabric.emplace(scenario.fabric, scenario.whole_gpus, scenario.gpus.size());
  if (scenario.gpus.size() > 1) {
    resolve_several(scenario, machine);
  } else {
    resolve_capacity(scenario, machine);
  }
  return machine;
}

MachineParameters read_machine(const Scenario& scenario) {
  MachineParameters machine = resolve_machine(scenario);
  read_uplinks(machine.host, scenario.gpus.size());
  if (!machine.has_several_gpus()) {
    check_policies(scenario, machine);
    return machine;
  }
  for (const Tenant& tenant : scenario.tenants) check_peers(tenant, machine);
  for (std::uint32_t number = 0; number < machine.gpus.size(); ++number) {
    const std::vector<std::uint32_t> tenants = machine.tenants_on(number);
    if (!tenants.empty()) check_policies(part_of(scenario, number, tenants), machine.on(number));
  }
  return machine;
}

}  // namespace lockstep
