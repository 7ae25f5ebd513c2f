#include "models/gpu/gpu_site.hpp"

#include "models/coordinator/coordinator.hpp"
#include "models/cpu/core_statistics.hpp"
#include "models/dispatch/dispatch_statistics.hpp"
#include "models/driver/host_statistics.hpp"
#include "models/fabric/port_statistics.hpp"
#include "models/gpc/hub_statistics.hpp"
#include "models/gpu/memory_check.hpp"
#include "models/gpu/policy_check.hpp"
#include "models/host_link/link_statistics.hpp"
#include "models/memory/memory_partition.hpp"
#include "models/sm/parameters/sm_statistics.hpp"
#include "models/vm/gmmu_statistics.hpp"

namespace lockstep {
namespace {

/// Returns the parameters.  Throws UserError for too little memory, before anything is loaded.
const MachineParameters& checked(const Scenario& scenario, const MachineParameters& parameters) {
  check_memory(scenario, parameters);
  return parameters;
}

/// Returns the GPU's part of the scenario; nothing for the only GPU, which has the whole scenario.
std::unique_ptr<const Scenario> own_part(const Scenario& scenario, const GpuSite::Place& place) {
  if (!place.group) return nullptr;
  return std::make_unique<const Scenario>(part_of(scenario, place.gpu, place.tenants));
}

}  // namespace

GpuSite::GpuSite(const Scenario& scenario, const MachineParameters& parameters, Place place,
                 const Options& options)
    : place_(std::move(place)),
      scenario_(scenario),
      own_scenario_(own_part(scenario, place_)),
      parameters_(with_places(checked(this->scenario(), parameters))),
      modules_(this->scenario(), parameters_, options.lowering),
      block_profile_(options.block_profile.of_tenants(place_.tenants)),
      gpu_(this->scenario(), parameters_, modules_, block_profile_),
      cores_(this->scenario(), parameters_, gpu_, options.capture) {}

void GpuSite::lay_out(Graph& graph, ComponentId host) {
  gpu_.add_components(graph, place_.prefix, place_.group);
  gpu_.connect(graph, host);
  cores_.lay_out(graph, host, place_.prefix, place_.group);
  gpu_.add_coordinator(graph);
}

bool GpuSite::has(const Graph& graph, ComponentId component) const {
  return gpu_.has(graph, component) || cores_.kind() == graph.nodes()[component.value()].kind;
}

std::unique_ptr<Component> GpuSite::build(const Graph& graph, ComponentId component,
                                          const LinkTable& links, KindId host) const {
  const Graph::Node& node = graph.nodes()[component.value()];
  if (cores_.kind() == node.kind) return cores_.build(node.index, links, host);
  return gpu_.build(graph, component, links, host, {cores_.kind(), parameters_.gpu.cpu.credits});
}

void GpuSite::add_kind(std::vector<KindStatistics>& kinds, const std::string& name,
                       const StatisticsSchema& schema, std::size_t instances) const {
  kinds.push_back(
      {place_.prefix + name, &schema, static_cast<std::uint32_t>(instances), {}, place_.group});
}

void GpuSite::add_kinds(std::vector<KindStatistics>& kinds) const {
  const GpuParameters& gpu = parameters_.gpu;
  add_kind(kinds, "dispatcher", statistics_schema_of<DispatchStatistics>(), 1);
  add_kind(kinds, "gmmu", statistics_schema_of<GmmuStatistics>(), 1);
  add_kind(kinds, "partition", memory_partition_statistics(), gpu.memory.partitions);
  add_kind(kinds, "sm", statistics_schema_of<SmStatistics>(), gpu.sm.count);
  if (!gpu_.layout().hubs.empty())
    add_kind(kinds, "hub", statistics_schema_of<HubStatistics>(), gpu_.layout().hubs.size());
  if (cores_.count() != 0)
    add_kind(kinds, "cpu", statistics_schema_of<CoreStatistics>(), cores_.count());
  if (gpu_.has_coordinator())
    add_kind(kinds, "coordinator", statistics_schema_of<CoordinatorStatistics>(), 1);
}

void GpuSite::add_kind_of_port(std::vector<KindStatistics>& kinds) const {
  if (gpu_.layout().port) add_kind(kinds, "port", statistics_schema_of<PortStatistics>(), 1);
}

void GpuSite::add_kinds_of_parts(std::vector<KindStatistics>& kinds) const {
  if (place_.group) add_kind(kinds, "host", statistics_schema_of<HostStatistics>(), 1);
  add_kind(kinds, "link", statistics_schema_of<LinkStatistics>(), 2);
  const PageManagerFactory& pages = page_managers().factory(parameters_.policies.page_manager);
  if (pages.statistics != nullptr) add_kind(kinds, "page_manager", pages.statistics(), 1);
  const auto add = [&](const std::string& plug_point, const auto& factory,
                       std::uint32_t instances) {
    if (factory.statistics != nullptr) add_kind(kinds, plug_point, factory.statistics(), instances);
    if (factory.sm_side.statistics != nullptr)
      add_kind(kinds, plug_point + "_in_sms", factory.sm_side.statistics(),
               parameters_.gpu.sm.count);
  };
  const PolicyParameters& policies = parameters_.policies;
  const std::uint32_t partitions = parameters_.gpu.memory.partitions;
  add("cache_policy", cache_policy_registry().factory(policies.cache_policy), partitions);
  add("replacement", replacement_registry().factory(policies.replacement), partitions);
  add("dram_scheduler", dram_schedulers().factory(policies.dram_scheduler),
      partitions * parameters_.gpu.memory.dram.channels);
  add("tlb_fill", tlb_fills().factory(policies.tlb_fill), 1);
}

}  // namespace lockstep
