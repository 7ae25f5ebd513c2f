#include "models/gpu/policy_check.hpp"

#include <algorithm>

#include "core/error/error.hpp"
#include "models/sm/exception_scheme/registry.hpp"
#include "models/vm/page_table_entry.hpp"

namespace lockstep {
namespace {

/// Checks the policies' demands on each other, as their registry rows state them.
void check_traits(const Scenario& scenario, const PolicyParameters& policies) {
  const auto conflict = policy_conflict(schema_of<PolicyParameters>(), &policies, "policies.");
  if (!conflict) return;
  const Node given = scenario.policies.find(conflict->plug_point.c_str());
  throw UserError(given.exists() ? given.where() : scenario.policies.where(), conflict->what,
                  conflict->advice);
}

/// Checks that in_place can choose the state on chip so that arriving blocks find contiguous
/// places.
void check_placement(const Scenario& scenario, const MachineParameters& parameters) {
  if (parameters.gpu.sm.placement != Placement::aligned ||
      !steps_of(parameters.policies.preemption).leaves_in_place())
    return;
  throw UserError(scenario.policies.find("preemption").where(),
                  "policies.preemption in_place makes room for blocks side by side, and "
                  "gpu.sm.placement aligned puts them at multiples of their size",
                  "choose gpu.sm.placement: packed or summed, or in_place: false");
}

/// Checks that techniques which need latency bounds have them.
void check_latency_bounds(const Scenario& scenario, const PolicyParameters& policies) {
  if (!steps_of(policies.preemption).ask) return;
  std::uint32_t least = ~std::uint32_t{0};
  for (const Tenant& tenant : scenario.tenants)
    if (!tenant.cpu) least = std::min(least, tenant.priority);
  for (const Tenant& tenant : scenario.tenants)
    if (!tenant.cpu && tenant.priority > least && tenant.latency_bound == Time::never())
      throw UserError(
          tenant.where,
          "tenant " + tenant.name + " may take SMs from others, and policies.preemption " +
              policies.preemption.name() + " chooses by the time within which it must have them",
          "give it a latency_bound, such as latency_bound: 5us");
}

void check_shares(const Scenario& scenario, const MachineParameters& parameters) {
  const std::uint32_t there = parameters.gpu.sm.count;
  for (const Tenant& tenant : scenario.tenants)
    if (tenant.sms > there)
      throw UserError(tenant.where,
                      "tenant " + tenant.name + " asks for " + std::to_string(tenant.sms) +
                          " SMs, and " + parameters.gpu.name + " has " + std::to_string(there),
                      "write sms: " + std::to_string(there) + " or less, or raise gpu.sm.count");
}

/// Checks that the machine has what a page manager that moves pages needs.
void check_page_manager(const Scenario& scenario, const MachineParameters& parameters) {
  const PolicyParameters& policies = parameters.policies;
  const auto needs_of = page_managers().factory(policies.page_manager).needs;
  if (needs_of == nullptr) return;
  const PageManagerNeeds needs = needs_of(policies.page_manager);
  const std::string name = "policies.page_manager " + policies.page_manager.name();
  const auto where = [&] { return scenario.policies.find("page_manager").where(); };
  if (needs.copies_pages && parameters.gpu.noc.mapping != AddressMapping::Kind::frame &&
      parameters.gpu.memory.partitions > 1)
    throw UserError(where(),
                    name + " copies pages within their memory channel, and gpu.noc.mapping " +
                        "spreads a page over several",
                    "choose noc.mapping: frame, or compaction: none");
}

/// Checks that each tenant can have its own partitions.
void check_groups(const Scenario& scenario, const MachineParameters& parameters) {
  const GpuParameters& gpu = parameters.gpu;
  if (gpu.noc.mapping != AddressMapping::Kind::grouped) return;
  const Node noc = scenario.gpu.find("noc");
  const auto refuse = [&](const std::string& why, const std::string& advice) {
    throw UserError(noc.find("mapping").where(), "noc.mapping grouped " + why, advice);
  };
  const std::size_t tenants = scenario.tenants.size();
  if (gpu.memory.partitions % tenants != 0)
    refuse("gives " + std::to_string(tenants) + " tenants as many partitions each, and there are " +
               std::to_string(gpu.memory.partitions),
           "change gpu.memory.partitions, or choose another mapping");
  for (const Tenant& tenant : scenario.tenants)
    if (tenant.cpu)
      refuse("divides memory among tenants on the GPU, and " + tenant.name + " is on a CPU core",
             "choose another mapping");
  const PolicyParameters& policies = parameters.policies;
  const auto needs_of = page_managers().factory(policies.page_manager).needs;
  if (needs_of != nullptr && needs_of(policies.page_manager).all_memory)
    refuse("gives a tenant frames of its own partitions only, and policies.page_manager " +
               policies.page_manager.name() + " any",
           "choose page_manager: base-pages, mixed-pages or large-pages");
  if (gpu_fault_handling(policies.fault_handling))
    refuse("gives a tenant frames of its own partitions only, and policies.fault_handling " +
               policies.fault_handling.name() + " any",
           "choose fault_handling: host");
}

}  // namespace

std::string note_of_shares(const Scenario& scenario, const MachineParameters& machine) {
  const PolicyParameters& policies = machine.policies;
  if (policies.sharing.name() != "exclusive") return "";
  for (const Tenant& tenant : scenario.tenants)
    if (tenant.sms > 0)
      return "note: " + tenant.where +
             ": sms: means nothing with policies.sharing exclusive, which gives a " +
             "tenant all SMs - choose sharing: spatial, or leave it out";
  const bool is_chosen = scenario.policies.exists() && scenario.policies.has("sharing");
  std::vector<std::uint32_t> on_gpu(std::max<std::size_t>(machine.gpus.size(), 1));
  for (std::size_t t = 0; t < scenario.tenants.size(); ++t)
    if (!scenario.tenants[t].cpu) ++on_gpu[machine.gpu_of(t)];
  if (is_chosen || *std::max_element(on_gpu.begin(), on_gpu.end()) < 2) return "";
  return "note: the kernels of the tenants run one after the other, each on all SMs: "
         "policies.sharing is exclusive unless it is given - choose sharing: spatial to have them "
         "run side by side";
}

MachineParameters with_places(MachineParameters parameters) {
  const PolicyParameters& policies = parameters.policies;
  Placement& placement = parameters.gpu.sm.placement;
  placement = placement_for(policies.preemption, is_in_parts(policies.sharing), placement);
  return parameters;
}

bool preempts(const PolicyParameters& policies) {
  return steps_of(policies.preemption).take.has_value();
}

bool saves_blocks(const PolicyParameters& policies) {
  return extra_blocks_of(policies.block_switching) > 0 ||
         steps_of(policies.preemption).save.has_value();
}

void check_policies(const Scenario& scenario, const MachineParameters& parameters) {
  const PolicyParameters& policies = parameters.policies;
  check_shares(scenario, parameters);
  check_traits(scenario, policies);
  check_latency_bounds(scenario, policies);
  check_placement(scenario, parameters);
  check_page_manager(scenario, parameters);
  check_groups(scenario, parameters);
  const std::optional<LocalHandling> local = gpu_fault_handling(policies.fault_handling);
  if (!local) return;
  const std::string where = scenario.policies.find("fault_handling").where();
  const std::string name = "policies.fault_handling " + policies.fault_handling.name();
  const std::uint64_t pool = local->pool * pages_per_block * page_bytes;
  const std::uint64_t capacity = parameters.gpu.memory.capacity.count();
  if (pool > capacity / 2)
    throw UserError(where,
                    name + " keeps " + std::to_string(pool >> 10) +
                        " KiB of zeroed frames ready, more than half of gpu.memory.capacity, " +
                        std::to_string(capacity >> 10) + " KiB",
                    "lower its pool or raise gpu.memory.capacity");
}

}  // namespace lockstep
