#include "models/gpu/policy_check.hpp"

#include <algorithm>

#include "core/error/error.hpp"
#include "models/sm/exception_scheme/registry.hpp"
#include "models/vm/page_table_entry.hpp"

namespace lockstep {
namespace {

/// What a scheme that squashes needs of fault handling.
void check_replay(const Scenario& scenario, const PolicyParameters& policies) {
  const PolicyChoice& scheme = policies.exception_scheme;
  if (!is_preemptible(scheme) ||
      host_fault_parameters(policies.fault_handling).replay != ReplayMode::block_tlb)
    return;
  throw UserError(scenario.policies.find("fault_handling").where(),
                  "replay: block-tlb keeps accesses in a blocked TLB, which policies."
                  "exception_scheme " +
                      scheme.name() + " squashes",
                  "choose replay: listed or broadcast, or exception_scheme: stall-on-fault");
}

/// `who` acts on a warp that has faulted: it must not wait in the load-store unit for its page.
void require_preemptible(const PolicyParameters& policies, const std::string& where,
                         const std::string& who) {
  if (is_preemptible(policies.exception_scheme)) return;
  throw UserError(where,
                  who + ", which policies.exception_scheme " + policies.exception_scheme.name() +
                      " does not give up",
                  "choose warp-disable-commit, warp-disable-last-check, replay-queue or "
                  "operand-log");
}

void check_block_switching(const Scenario& scenario, const PolicyParameters& policies) {
  if (extra_blocks_of(policies.block_switching) == 0) return;
  require_preemptible(policies, scenario.policies.find("block_switching").where(),
                      "policies.block_switching " + policies.block_switching.name() +
                          " takes a block away that has faulted");
}

/// What stays on chip is chosen so that those that come stand side by side.
void check_placement(const Scenario& scenario, const MachineParameters& parameters) {
  if (parameters.gpu.sm.placement != Placement::aligned ||
      !needs_of_preemption(parameters.policies.preemption).in_place)
    return;
  throw UserError(scenario.policies.find("preemption").where(),
                  "policies.preemption in_place makes room for blocks side by side, and "
                  "gpu.sm.placement aligned puts them at multiples of their size",
                  "choose gpu.sm.placement: packed or summed, or in_place: false");
}

/// Blocks make room in part of an SM.
void check_parts(const std::string& where, const std::string& name,
                 const PolicyParameters& policies) {
  const std::unique_ptr<Preemption> preemption = make_preemption(policies.preemption);
  if (preemption->others() != Technique::save)
    throw UserError(where,
                    name + " takes whole SMs from a tenant, policies.sharing " +
                        policies.sharing.name() + " lets all use every SM",
                    "choose preemption: switch or none, or sharing: exclusive");
  if (preemption->needs().in_place || preemption->signal() > Cycles{0})
    throw UserError(where,
                    name +
                        " has in_place or a signal, which are of whole SMs, and policies.sharing " +
                        policies.sharing.name() + " has parts of them make room",
                    "leave them out, or choose sharing: exclusive");
}

void check_preemption(const Scenario& scenario, const PolicyParameters& policies) {
  const Preemption::Needs needs = needs_of_preemption(policies.preemption);
  const bool sliced = is_time_sliced(policies.sharing);
  if (sliced && (!needs.preempts || needs.shares))
    throw UserError(scenario.policies.find("sharing").where(),
                    "policies.sharing time-sliced gives each tenant the whole GPU in turn, and "
                    "policies.preemption " +
                        policies.preemption.name() + " takes no whole SMs from one",
                    "choose preemption: drain or switch");
  if (sliced && needs.follows)
    throw UserError(scenario.policies.find("sharing").where(),
                    "policies.sharing time-sliced ends slices, and policies.preemption " +
                        policies.preemption.name() +
                        " may throw away what a block did in its own, every time anew",
                    "choose preemption: drain or switch");
  if (!needs.preempts) return;
  const std::string where = scenario.policies.find("preemption").where();
  const std::string name = "policies.preemption " + policies.preemption.name();
  if (is_in_parts(policies.sharing))
    check_parts(where, name, policies);
  else if (policies.sharing.name() != "exclusive" && !sliced)
    throw UserError(where,
                    name + " takes whole SMs from a tenant, policies.sharing " +
                        policies.sharing.name() + " gives each its own",
                    "choose sharing: exclusive, time-sliced or smk, or preemption: none");
  if (!needs.asks) return;
  std::uint32_t least = ~std::uint32_t{0};
  for (const Tenant& tenant : scenario.tenants)
    if (!tenant.cpu) least = std::min(least, tenant.priority);
  for (const Tenant& tenant : scenario.tenants)
    if (!tenant.cpu && tenant.priority > least && tenant.latency_bound == Time::never())
      throw UserError(tenant.where,
                      "tenant " + tenant.name + " may take SMs from others, and " + name +
                          " chooses by the time within which it must have them",
                      "give it a latency_bound, such as latency_bound: 5us");
}

/// A DRAM scheduler that follows what another policy finds out about warps.
void check_marks(const Scenario& scenario, const PolicyParameters& policies) {
  const std::uint8_t needed = dram_schedulers().factory(policies.dram_scheduler).needs_marks;
  const std::uint8_t given = cache_policy_registry().factory(policies.cache_policy).sm_side.marks;
  if ((needed & ~given) == 0) return;
  throw UserError(scenario.policies.find("dram_scheduler").where(),
                  "policies.dram_scheduler " + policies.dram_scheduler.name() +
                      " must know which warps hit mostly, and policies.cache_policy " +
                      policies.cache_policy.name() + " does not find out",
                  "choose cache_policy: {name: medic, bypass: false, insertion: false}, which "
                  "finds out and leaves the L2 as it is, or another dram_scheduler");
}

/// What measures walks stands in the shared TLB; a DRAM scheduler that follows it needs it.
void check_walk_measures(const Scenario& scenario, const PolicyParameters& policies) {
  const bool measures = tlb_fills().factory(policies.tlb_fill).measures_walks;
  if (measures && policies.translation.name() != "shared-tlb")
    throw UserError(scenario.policies.find("tlb_fill").where(),
                    "policies.tlb_fill " + policies.tlb_fill.name() +
                        " fills a second-level TLB, and policies.translation " +
                        policies.translation.name() + " has none",
                    "choose translation: shared-tlb, or tlb_fill: lru");
  if (measures || !dram_schedulers().factory(policies.dram_scheduler).needs_walk_measures) return;
  throw UserError(scenario.policies.find("dram_scheduler").where(),
                  "policies.dram_scheduler " + policies.dram_scheduler.name() +
                      " must know whose warps wait for page walks, and policies.tlb_fill " +
                      policies.tlb_fill.name() + " does not measure it",
                  "choose tlb_fill: {name: mask, tokens: false}, which measures and leaves the TLB "
                  "as it is, or another dram_scheduler");
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

/// What a page manager that moves pages needs of the machine.
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
  if (needs.stalls && is_preemptible(policies.exception_scheme))
    throw UserError(where(),
                    name +
                        " has the SMs stand still while it moves pages, which policies."
                        "exception_scheme " +
                        policies.exception_scheme.name() +
                        " must not: what it has squashed issues again before a page can leave",
                    "set stall: false, or choose exception_scheme: stall-on-fault");
}

/// Each tenant has its own partitions.
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

std::string note_of_shares(const Scenario& scenario, const PolicyParameters& policies) {
  if (policies.sharing.name() != "exclusive") return "";
  for (const Tenant& tenant : scenario.tenants)
    if (tenant.sms > 0)
      return "note: " + tenant.where +
             ": sms: means nothing with policies.sharing exclusive, which gives a " +
             "tenant all SMs - choose sharing: spatial, or leave it out";
  const bool is_chosen = scenario.policies.exists() && scenario.policies.has("sharing");
  const auto on_gpu = std::count_if(scenario.tenants.begin(), scenario.tenants.end(),
                                    [](const Tenant& tenant) { return !tenant.cpu; });
  if (is_chosen || on_gpu < 2) return "";
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
  return needs_of_preemption(policies.preemption).preempts;
}

bool saves_blocks(const PolicyParameters& policies) {
  return extra_blocks_of(policies.block_switching) > 0 ||
         needs_of_preemption(policies.preemption).saves;
}

void check_policies(const Scenario& scenario, const MachineParameters& parameters) {
  const PolicyParameters& policies = parameters.policies;
  check_shares(scenario, parameters);
  check_replay(scenario, policies);
  check_block_switching(scenario, policies);
  check_preemption(scenario, policies);
  check_placement(scenario, parameters);
  check_marks(scenario, policies);
  check_walk_measures(scenario, policies);
  check_page_manager(scenario, parameters);
  check_groups(scenario, parameters);
  const std::optional<LocalHandling> local = gpu_fault_handling(policies.fault_handling);
  if (!local) return;
  const std::string where = scenario.policies.find("fault_handling").where();
  const std::string name = "policies.fault_handling " + policies.fault_handling.name();
  require_preemptible(policies, where,
                      name + " runs a handler in the place of the warp that faulted");
  if (make_page_manager(policies.page_manager, {})->capacity_unit() > 1)
    throw UserError(where,
                    name + " maps 4 KiB pages into any frames, policies.page_manager " +
                        policies.page_manager.name() + " gives frames of 2 MiB to one tenant each",
                    "choose another page manager");
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
