#include "models/gpu/gpu_builder.hpp"

#include <algorithm>

#include "core/memory/round_up.hpp"
#include "core/parameters/policy_traits.hpp"
#include "models/dispatch/dispatcher.hpp"
#include "models/fabric/port.hpp"
#include "models/fragmentation/foreign_pages.hpp"
#include "models/gpc/hub.hpp"
#include "models/gpu/initial_contents.hpp"
#include "models/gpu/launch_check.hpp"
#include "models/gpu/policy_check.hpp"
#include "models/memory/memory_partition.hpp"
#include "models/sm/exception_scheme/registry.hpp"
#include "models/sm/streaming_multiprocessor.hpp"
#include "models/sm/tables/issue_tables.hpp"
#include "models/vm/gmmu.hpp"

namespace lockstep {
namespace {

IssueDetail issue_detail(const MachineParameters& parameters) {
  const PolicyParameters& policies = parameters.policies;
  return detail_for(parameters.gpu.sm, policies.exception_scheme, saves_blocks(policies));
}

/// Returns the names of buffers by tenant, in the order of the workload.
std::vector<std::vector<std::string>> buffer_names(const Scenario& scenario) {
  std::vector<std::vector<std::string>> names;
  for (const Tenant& tenant : scenario.tenants) {
    names.emplace_back();
    for (const Buffer& buffer : tenant.workload.buffers) names.back().push_back(buffer.name);
  }
  return names;
}

PreemptionMachine preemption_machine(const MachineParameters& parameters) {
  PreemptionMachine machine{Clock(parameters.gpu.sm.clock), parameters.gpu.bandwidth_of_an_sm()};
  if (!is_preemptible(parameters.policies.exception_scheme))
    machine.page_wait = host_fault_parameters(parameters.policies.fault_handling).expected();
  return machine;
}

/// Latencies of the links within a GPU, one way.
struct LinkTimes {
  explicit LinkTimes(const GpuParameters& gpu)
      : request(Clock(gpu.noc.clock).duration(gpu.noc.request_latency)),
        response(Clock(gpu.noc.clock).duration(gpu.noc.response_latency)),
        dispatch(Clock(gpu.dispatch.clock).duration(gpu.dispatch.link_latency)),
        gmmu(Clock(gpu.vm.clock).duration(gpu.vm.link_latency)),
        hub(Clock(gpu.noc.clock).duration(gpu.noc.hub.link_latency)) {}
  Time request, response, dispatch, gmmu, hub;
};

}  // namespace

GpuBuilder::GpuBuilder(const Scenario& scenario, const MachineParameters& parameters,
                       const LoadedModules& modules, const BlockProfile& block_profile)
    : scenario_(scenario),
      parameters_(parameters),
      modules_(modules),
      block_profile_(block_profile),
      mapping_(parameters.gpu.mapping(scenario.tenants.size())),
      coordination_(parameters, scenario.tenants.size()) {
  check_victims(scenario, parameters, modules_.pointers(), modules_.module_of_tenant());
  if (saves_blocks(parameters.policies))
    context_memory_ = ContextMemory(scenario, parameters, modules_.pointers(),
                                    modules_.module_of_tenant(), *issue_tables());
  core_places_ = CorePlaces(scenario, parameters,
                            parameters.gpu.memory.capacity.count() - context_memory_.bytes());
  foreign_pages_ = lockstep::foreign_pages(parameters.gpu.memory.fragmentation,
                                           core_places_.bytes_before(), parameters.simulation.seed);
}

void GpuBuilder::add_components(Graph& graph, const std::string& prefix,
                                std::optional<std::uint32_t> group) {
  // Relative costs, for the partitioner: an SM does the most.
  constexpr double hub_weight = 0.2, partition_weight = 0.5, sm_weight = 1;
  const GpuParameters& gpu = parameters_.gpu;
  prefix_ = prefix;
  group_ = group;
  layout_.dispatcher_kind = graph.add_kind(prefix + "dispatcher");
  layout_.gmmu_kind = graph.add_kind(prefix + "gmmu");
  layout_.partition_kind = graph.add_kind(prefix + "partition");
  layout_.sm_kind = graph.add_kind(prefix + "sm");
  layout_.dispatcher = graph.add_component(layout_.dispatcher_kind, hub_weight, group);
  layout_.gmmu = graph.add_component(layout_.gmmu_kind, hub_weight, group);
  for (std::uint32_t i = 0; i < gpu.memory.partitions; ++i)
    layout_.partitions.push_back(
        graph.add_component(layout_.partition_kind, partition_weight, group));
  for (std::uint32_t i = 0; i < gpu.sm.count; ++i)
    layout_.sms.push_back(graph.add_component(layout_.sm_kind, sm_weight, group));
  if (!modules_.launches_clusters()) return;
  layout_.hub_kind = graph.add_kind(prefix + "hub");
  for (std::uint32_t i = 0; i < gpu.topology().clusters(); ++i)
    layout_.hubs.push_back(graph.add_component(*layout_.hub_kind, hub_weight, group));
}

void GpuBuilder::connect(Graph& graph, ComponentId host) {
  // Relative traffic, for the partitioner: SMs talk to partitions.
  constexpr double memory_traffic = 1, rare_traffic = 0.02;
  const GpuParameters& gpu = parameters_.gpu;
  const LinkTimes times(gpu);
  const Time host_link = parameters_.host.link_latency;
  const auto both_ways = [&](ComponentId a, ComponentId b, Time there, Time back) {
    graph.connect(a, b, there, rare_traffic);
    graph.connect(b, a, back, rare_traffic);
  };
  both_ways(host, layout_.dispatcher, host_link, host_link);
  both_ways(host, layout_.gmmu, host_link, host_link);
  for (const ComponentId partition : layout_.partitions) {
    graph.connect(layout_.gmmu, partition, gpu.vm.memory_link(times.request), rare_traffic);
    graph.connect(partition, layout_.gmmu, gpu.vm.memory_link(times.response), rare_traffic,
                  Graph::Carries::answers);
    both_ways(host, partition, host_link, host_link);
  }
  for (const ComponentId sm : layout_.sms) {
    both_ways(host, sm, host_link, host_link);
    both_ways(layout_.dispatcher, sm, times.dispatch, times.dispatch);
    both_ways(layout_.gmmu, sm, times.gmmu, times.gmmu);
  }
  for (const ComponentId sm : layout_.sms)
    for (const ComponentId partition : layout_.partitions)
      graph.connect(sm, partition, times.request, memory_traffic);
  for (const ComponentId partition : layout_.partitions)
    for (const ComponentId sm : layout_.sms)
      graph.connect(partition, sm, times.response, memory_traffic, Graph::Carries::answers);
  // An SM exchanges as many messages with its hub as with all partitions.
  const Topology topology = gpu.topology();
  const double hub_traffic = memory_traffic * gpu.memory.partitions;
  for (std::uint32_t gpc = 0; gpc < layout_.hubs.size(); ++gpc)
    for (std::uint32_t sm = topology.first_sm(gpc).value(); sm < topology.first_sm(gpc + 1).value();
         ++sm) {
      graph.connect(layout_.sms[sm], layout_.hubs[gpc], times.hub, hub_traffic);
      graph.connect(layout_.hubs[gpc], layout_.sms[sm], times.hub, hub_traffic);
    }
}

void GpuBuilder::add_coordinator(Graph& graph) {
  const LinkTimes times(parameters_.gpu);
  coordination_.lay_out(graph,
                        {layout_.partitions, layout_.gmmu, layout_.sms,
                         std::max({times.request, times.response, times.gmmu}), prefix_, group_});
}

void GpuBuilder::add_port(Graph& graph, ComponentId host, std::uint32_t links) {
  constexpr double hub_weight = 0.2, memory_traffic = 1, rare_traffic = 0.02;
  const LinkTimes times(parameters_.gpu);
  const Time host_link = parameters_.host.link_latency;
  layout_.port_kind = graph.add_kind(prefix_ + "port");
  const ComponentId port = graph.add_component(*layout_.port_kind, hub_weight, group_);
  layout_.port = port;
  layout_.port_links = links;
  graph.connect(host, port, host_link, rare_traffic);
  graph.connect(port, host, host_link, rare_traffic);
  for (const ComponentId sm : layout_.sms) {
    graph.connect(sm, port, times.request, memory_traffic);
    graph.connect(port, sm, times.response, memory_traffic);
  }
  for (const ComponentId partition : layout_.partitions) {
    graph.connect(port, partition, times.request, memory_traffic);
    graph.connect(partition, port, times.response, memory_traffic);
  }
}

void GpuBuilder::connect_link(Graph& graph, ComponentId unit, Time latency) {
  constexpr double rare_traffic = 0.02;
  layout_.link_kind = graph.nodes()[unit.value()].kind;
  for (const ComponentId partition : layout_.partitions) {
    graph.connect(unit, partition, latency, rare_traffic);
    graph.connect(partition, unit, latency, rare_traffic);
  }
  for (const ComponentId sm : layout_.sms) graph.connect(unit, sm, latency, rare_traffic);
}

std::unique_ptr<Component> GpuBuilder::build_port(
    const Fabric& fabric, std::uint32_t gpu, const std::vector<std::uint32_t>& tenants,
    const std::vector<std::pair<std::uint32_t, KindId>>& peers, const LinkTable& links,
    KindId host) const {
  Port::Setup setup;
  setup.parameters = fabric.parameters();
  setup.gpu = gpu;
  setup.counts_to = make_peer_policy(parameters_.policies.peer_policy)->counts_to();
  setup.mapping = mapping_;
  setup.tenants = tenants;
  setup.to_host = links.to_one(*layout_.port, host);
  setup.to_sms = links.to_all(*layout_.port, layout_.sm_kind);
  setup.to_partitions = links.to_all(*layout_.port, layout_.partition_kind);
  for (const auto& [other, kind] : peers)
    if (fabric.has_way(gpu, other))
      setup.peers.push_back({other, fabric.rate(gpu, other), links.to_one(*layout_.port, kind)});
  return std::make_unique<Port>(std::move(setup));
}

bool GpuBuilder::has(const Graph& graph, ComponentId component) const {
  const KindId kind = graph.nodes()[component.value()].kind;
  return kind == layout_.dispatcher_kind || kind == layout_.gmmu_kind ||
         kind == layout_.partition_kind || kind == layout_.sm_kind || kind == layout_.port_kind ||
         kind == layout_.hub_kind || coordination_.component() == component;
}

std::unique_ptr<Component> GpuBuilder::build(const Graph& graph, ComponentId component,
                                             const LinkTable& links, KindId host,
                                             const Cores& cores) const {
  const Graph::Node& node = graph.nodes()[component.value()];
  if (node.kind == layout_.dispatcher_kind) return build_dispatcher(links, host);
  if (node.kind == layout_.gmmu_kind) return build_gmmu(links, host);
  if (node.kind == layout_.partition_kind) return build_partition(node.index, links, host, cores);
  if (node.kind == layout_.sm_kind) return build_sm(node.index, links, host);
  if (node.kind == layout_.hub_kind) return build_hub(node.index, links);
  return coordination_.build(links);
}

std::unique_ptr<Component> GpuBuilder::build_dispatcher(const LinkTable& links, KindId host) const {
  Dispatcher::Setup setup;
  const auto& gpu = parameters_.gpu;
  setup.parameters = gpu.dispatch;
  setup.topology = gpu.topology();
  setup.limits = gpu.sm.occupancy_limits(log_entries_of(parameters_.policies.exception_scheme));
  setup.sharing = parameters_.policies.sharing;
  setup.preemption = parameters_.policies.preemption;
  setup.switches_blocks = extra_blocks_of(parameters_.policies.block_switching) > 0;
  setup.preemption_machine = preemption_machine(parameters_);
  setup.machine = sharing_setup(scenario_, parameters_);
  for (const Tenant& tenant : scenario_.tenants) {
    setup.instructions.push_back(tenant.cpu ? 0 : tenant.instructions);
    setup.latency_bounds.push_back(tenant.latency_bound);
  }
  setup.block_profile = block_profile_;
  setup.modules = modules_.pointers();
  setup.to_host = links.to_one(layout_.dispatcher, host);
  setup.to_sms = links.to_all(layout_.dispatcher, layout_.sm_kind);
  return std::make_unique<Dispatcher>(std::move(setup));
}

std::unique_ptr<Component> GpuBuilder::build_gmmu(const LinkTable& links, KindId host) const {
  Gmmu::Setup setup;
  setup.parameters = parameters_.gpu.vm;
  setup.replay = host_fault_parameters(parameters_.policies.fault_handling).replay;
  setup.squashes = is_preemptible(parameters_.policies.exception_scheme);
  setup.local = gpu_fault_handling(parameters_.policies.fault_handling).value_or(LocalHandling{});
  setup.mapping = mapping_;
  setup.noc = parameters_.gpu.noc;
  setup.tenants = scenario_.tenants.size();
  setup.to_sms = links.to_all(layout_.gmmu, layout_.sm_kind);
  setup.to_partitions = links.to_all(layout_.gmmu, layout_.partition_kind);
  setup.to_host = links.to_one(layout_.gmmu, host);
  const auto policy = [&](const PolicyChoice& choice) {
    return GmmuPolicySetup{choice, setup.parameters, setup.tenants, parameters_.simulation.seed,
                           layout_.gmmu};
  };
  setup.translation = make_translation_path(policy(parameters_.policies.translation),
                                            make_tlb_fill(policy(parameters_.policies.tlb_fill)));
  setup.epochs = coordination_.epochs_of(layout_.gmmu, links);
  return std::make_unique<Gmmu>(std::move(setup));
}

const std::shared_ptr<const IssueTables>& GpuBuilder::issue_tables() const {
  if (!issue_tables_)
    issue_tables_ =
        make_issue_tables(parameters_.gpu.sm, modules_.pointers(), issue_detail(parameters_));
  return issue_tables_;
}

std::unique_ptr<Component> GpuBuilder::build_sm(std::uint32_t index, const LinkTable& links,
                                                KindId host) const {
  const ComponentId sm = layout_.sms[index];
  StreamingMultiprocessor::Setup setup;
  setup.parameters = parameters_.gpu.sm;
  setup.noc = parameters_.gpu.noc;
  setup.warp_scheduler = parameters_.policies.warp_scheduler;
  setup.exception_scheme = parameters_.policies.exception_scheme;
  setup.block_switching = parameters_.policies.block_switching;
  setup.contexts = context_memory_.area_of(index);
  const auto flush = steps_of(parameters_.policies.preemption).flush;
  setup.follows_blocks = flush.has_value();
  if (flush) setup.idempotence = flush->idempotence;
  setup.index = index;
  setup.record_blocks = parameters_.simulation.record_blocks;
  setup.progress_limit = parameters_.simulation.progress_limit;
  for (const Tenant& tenant : scenario_.tenants) setup.tenants.push_back(tenant.name);
  setup.buffers = buffer_names(scenario_);
  setup.modules = modules_.pointers();
  setup.issue_tables = issue_tables();
  setup.constant_rows = constant_rows_;
  setup.mapping = mapping_;
  setup.local_memory_base = parameters_.gpu.memory.capacity.count();
  setup.to_partitions = links.to_all(sm, layout_.partition_kind);
  setup.to_host = links.to_one(sm, host);
  setup.to_dispatcher = links.to_one(sm, layout_.dispatcher_kind);
  setup.vm = parameters_.gpu.vm;
  setup.replay = host_fault_parameters(parameters_.policies.fault_handling).replay;
  setup.to_gmmu = links.to_one(sm, layout_.gmmu_kind);
  if (layout_.port_kind) setup.to_port = links.to_all(sm, *layout_.port_kind);
  setup.port_links = layout_.port_links;
  if (layout_.hub_kind) setup.to_hub = links.to_all(sm, *layout_.hub_kind);
  setup.sides = coordination_.sm_sides(index, sm);
  setup.epochs = coordination_.epochs_of(sm, links);
  setup.marks_priorities =
      has_trait(replacement_policies(), parameters_.policies.replacement, honours_hints);
  return std::make_unique<StreamingMultiprocessor>(std::move(setup));
}

std::unique_ptr<Component> GpuBuilder::build_hub(std::uint32_t gpc, const LinkTable& links) const {
  Hub::Setup setup;
  setup.clock = parameters_.gpu.noc.clock;
  setup.parameters = parameters_.gpu.noc.hub;
  setup.first_sm = parameters_.gpu.topology().first_sm(gpc).value();
  setup.to_sms = links.to_all(layout_.hubs[gpc], layout_.sm_kind);
  for (const Tenant& tenant : scenario_.tenants) setup.tenants.push_back(tenant.name);
  return std::make_unique<Hub>(std::move(setup));
}

std::unique_ptr<Component> GpuBuilder::build_partition(std::uint32_t index, const LinkTable& links,
                                                       KindId host, const Cores& cores) const {
  const ComponentId partition = layout_.partitions[index];
  MemoryParameters memory = parameters_.gpu.memory;
  // The threads' local memory lies behind the capacity for buffers, and code behind it.
  const std::uint64_t frames = std::uint64_t{4096} * memory.partitions;
  const SmParameters& sm = parameters_.gpu.sm;
  const std::uint64_t local = local_memory_bytes(sm, context_memory_.area_of(0).warps()) * sm.count;
  memory.capacity = Bytes{memory.capacity.count() + round_up(local + code_bytes(sm), frames)};
  MemoryPartition::Setup setup;
  setup.parameters = memory;
  setup.noc = parameters_.gpu.noc;
  setup.topology = parameters_.gpu.topology();
  setup.index = PartitionId{static_cast<std::uint16_t>(index)};
  setup.mapping = mapping_;
  setup.sources = request_sources(partition, links, host, cores);
  setup.foreign_pages = foreign_pages_;
  setup.tenants = scenario_.tenants.size();
  setup.count_banks = parameters_.gpu.cpu.cores > 0;
  const auto policy = [&](const PolicyChoice& choice) {
    return PartitionPolicySetup{
        choice, memory, setup.index, setup.tenants, parameters_.simulation.seed, partition, 0};
  };
  setup.cache_policy = make_cache_policy(policy(parameters_.policies.cache_policy));
  setup.replacement = make_replacement(policy(parameters_.policies.replacement));
  PartitionPolicySetup scheduler = policy(parameters_.policies.dram_scheduler);
  for (; scheduler.channel < memory.dram.channels; ++scheduler.channel)
    setup.dram_schedulers.push_back(make_dram_scheduler(scheduler));
  setup.epochs = coordination_.epochs_of(partition, links);
  if (copies_in_stretches()) setup.initial = InitialContents(scenario_.tenants);
  return std::make_unique<MemoryPartition>(std::move(setup));
}

/// Without remote accesses, nothing comes between a copy's lines.
bool GpuBuilder::copies_in_stretches() const {
  const auto is_on_device = [](const Buffer& buffer) {
    return buffer.memory == MemoryKind::device;
  };
  const auto has_heap = [](const isa::Module* module) { return module->has_heap(); };
  return parameters_.gpu.cpu.cores == 0 && std::ranges::none_of(modules_.pointers(), has_heap) &&
         std::ranges::all_of(scenario_.tenants, [&](const Tenant& tenant) {
           return std::ranges::all_of(tenant.workload.buffers, is_on_device);
         });
}

/// Returns the senders of requests to a partition.  The host limits itself by its lines in flight,
/// the GMMU by walkers and exchanges, a port by its own lines and the tags of others.
RequestSources GpuBuilder::request_sources(ComponentId partition, const LinkTable& links,
                                           KindId host, const Cores& cores) const {
  RequestSources sources;
  const std::vector<Link> sms = links.to_all(partition, layout_.sm_kind);
  const Link to_gmmu = links.to_one(partition, layout_.gmmu_kind);
  const Link to_host = links.to_one(partition, host);
  sources.add(SourceKind::sm, "sm", sms, parameters_.gpu.noc.credits);
  sources.add(SourceKind::gmmu, "gmmu", {&to_gmmu, 1}, RequestSources::unlimited);
  sources.add(SourceKind::host, "host", {&to_host, 1}, RequestSources::unlimited);
  if (layout_.link_kind)
    sources.add_beside(SourceKind::link, "link", SourceKind::host,
                       links.to_one(partition, *layout_.link_kind));
  if (cores.kind)
    sources.add(SourceKind::cpu, "cpu", links.to_all(partition, *cores.kind), cores.credits);
  if (layout_.port_kind)
    sources.add(SourceKind::peer, "port", links.to_all(partition, *layout_.port_kind),
                RequestSources::unlimited);
  return sources;
}

}  // namespace lockstep
