#include "models/gpu/machine.hpp"

#include "models/coordinator/coordinator.hpp"
#include "models/cpu/core_statistics.hpp"
#include "models/dispatch/dispatch_statistics.hpp"
#include "models/driver/host_statistics.hpp"
#include "models/gpu/memory_check.hpp"
#include "models/gpu/oversubscription.hpp"
#include "models/gpu/policy_check.hpp"
#include "models/host/host.hpp"
#include "models/host_link/link_statistics.hpp"
#include "models/memory/memory_partition.hpp"
#include "models/sm/parameters/sm_statistics.hpp"
#include "models/vm/gmmu_statistics.hpp"

namespace lockstep {

MachineParameters resolve_machine(const Scenario& scenario) {
  MachineParameters machine;
  machine.gpu = read_parameters<GpuParameters>(scenario.gpu);
  machine.host = read_parameters<HostParameters>(scenario.host);
  machine.policies = scenario.policies.exists()
                         ? read_parameters<PolicyParameters>(scenario.policies)
                         : defaults<PolicyParameters>();
  machine.simulation = scenario.simulation;
  if (machine.gpu.memory.oversubscription > 0) {
    machine.gpu.memory.capacity = oversubscribed_capacity(scenario, machine);
    machine.gpu.memory.oversubscription = 0;
  }
  return machine;
}

MachineParameters read_machine(const Scenario& scenario) {
  MachineParameters machine = resolve_machine(scenario);
  check_policies(scenario, machine);
  return machine;
}

/// Throws UserError for memory that does not suffice, before anything is loaded.
static const MachineParameters& checked(const Scenario& scenario,
                                        const MachineParameters& parameters) {
  check_memory(scenario, parameters);
  return parameters;
}

Machine::Machine(const Scenario& scenario, const MachineParameters& parameters,
                 const Options& options)
    : scenario_(scenario),
      parameters_(with_places(checked(scenario, parameters))),
      capture_(options.capture),
      bounds_(options.bounds),
      print_(options.print),
      warn_(options.warn),
      block_profile_(options.block_profile),
      modules_(scenario, parameters_, options.lowering),
      graph_(options.graph ? *options.graph : own_graph_),
      prefix_(options.prefix) {
  lay_out();
}

void Machine::lay_out() {
  constexpr double hub_weight = 0.2;  // relative cost, for the partitioner
  host_kind_ = graph_.add_kind(prefix_ + "host");
  host_ = graph_.add_component(host_kind_, hub_weight);
  gpus_.push_back(std::make_unique<GpuBuilder>(scenario_, parameters_, modules_, block_profile_));
  for (const auto& gpu : gpus_) {
    gpu->add_components(graph_, prefix_);
    gpu->connect(graph_, host_);
  }
  cores_ = std::make_unique<CpuCores>(scenario_, parameters_, gpu(), capture_);
  cores_->lay_out(graph_, host_, prefix_);
  for (const auto& gpu : gpus_) gpu->add_coordinator(graph_);
  links_ = LinkTable(graph_);
}

std::vector<std::string> Machine::tenant_names() const {
  std::vector<std::string> names;
  for (const Tenant& tenant : scenario_.tenants) names.push_back(tenant.name);
  return names;
}

std::unique_ptr<Component> Machine::build(ComponentId component) const {
  const Graph::Node& node = graph_.nodes()[component.value()];
  if (node.kind == host_kind_) return build_host();
  if (cores_->kind() && node.kind == *cores_->kind())
    return cores_->build(node.index, links_, host_kind_);
  for (const auto& gpu : gpus_)
    if (gpu->has(graph_, component))
      return gpu->build(graph_, component, links_, host_kind_,
                        {cores_->kind(), parameters_.gpu.cpu.credits});
  internal_error(__FILE__, __LINE__, "built", "nobody builds " + graph_.name(component));
}

std::unique_ptr<Component> Machine::build_host() const {
  Host::Setup setup;
  setup.parameters = parameters_.host;
  setup.tenants = &scenario_.tenants;
  setup.module_of_tenant = modules_.module_of_tenant();
  setup.modules = modules_.pointers();
  setup.mapping = gpu().mapping();
  setup.memory_bytes = gpu().core_places().bytes_before();
  setup.foreign_pages = gpu().foreign_pages();
  setup.memory_bytes_per_second = parameters_.gpu.memory.bytes_per_second();
  setup.capture = capture_;
  setup.bounds = bounds_;
  setup.print = print_;
  setup.warn = warn_;
  setup.seed = parameters_.simulation.seed;
  setup.record_faults = parameters_.simulation.record_faults;
  setup.progress_limit = parameters_.simulation.progress_limit;
  setup.fault_handling = parameters_.policies.fault_handling;
  setup.prefetcher = parameters_.policies.prefetcher;
  setup.eviction = parameters_.policies.eviction;
  setup.page_manager = parameters_.policies.page_manager;
  setup.device_pages = parameters_.gpu.vm.device_pages;
  const GpuBuilder::Layout& layout = gpu().layout();
  setup.to_gmmu = links_.to_one(host_, layout.gmmu_kind);
  setup.to_dispatcher = links_.to_one(host_, layout.dispatcher_kind);
  setup.to_partitions = links_.to_all(host_, layout.partition_kind);
  setup.to_sms = links_.to_all(host_, layout.sm_kind);
  if (cores_->kind()) setup.to_cores = links_.to_all(host_, *cores_->kind());
  return std::make_unique<Host>(std::move(setup));
}

StatisticsLayout Machine::statistics_layout() const {
  std::vector<KindStatistics> kinds{
      {"host", &statistics_schema_of<HostStatistics>(), 1},
      {"dispatcher", &statistics_schema_of<DispatchStatistics>(), 1},
      {"gmmu", &statistics_schema_of<GmmuStatistics>(), 1},
      {"partition", &memory_partition_statistics(), parameters_.gpu.memory.partitions},
      {"sm", &statistics_schema_of<SmStatistics>(), parameters_.gpu.sm.count}};
  if (cores_->count() != 0)
    kinds.push_back({"cpu", &statistics_schema_of<CoreStatistics>(),
                     static_cast<std::uint32_t>(cores_->count())});
  if (gpu().has_coordinator())
    kinds.push_back({"coordinator", &statistics_schema_of<CoordinatorStatistics>(), 1});
  kinds.push_back({"link", &statistics_schema_of<LinkStatistics>(), 2});
  const PageManagerFactory& pages = page_managers().factory(parameters_.policies.page_manager);
  if (pages.statistics != nullptr) kinds.push_back({"page_manager", &pages.statistics(), 1});
  const auto add = [&](const std::string& plug_point, const auto& factory,
                       std::uint32_t instances) {
    if (factory.statistics != nullptr)
      kinds.push_back({plug_point, &factory.statistics(), instances});
    if (factory.sm_side.statistics != nullptr)
      kinds.push_back(
          {plug_point + "_in_sms", &factory.sm_side.statistics(), parameters_.gpu.sm.count});
  };
  const PolicyParameters& policies = parameters_.policies;
  const std::uint32_t partitions = parameters_.gpu.memory.partitions;
  add("cache_policy", cache_policy_registry().factory(policies.cache_policy), partitions);
  add("replacement", replacement_registry().factory(policies.replacement), partitions);
  add("dram_scheduler", dram_schedulers().factory(policies.dram_scheduler), partitions);
  add("tlb_fill", tlb_fills().factory(policies.tlb_fill), 1);
  return {std::move(kinds), scenario_.tenants.size()};
}

}  // namespace lockstep
