#include "models/gpu/machine.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "core/memory/round_up.hpp"
#include "models/cpu/core_statistics.hpp"
#include "models/dispatch/dispatcher.hpp"
#include "models/fragmentation/foreign_pages.hpp"
#include "models/gpu/launch_check.hpp"
#include "models/gpu/memory_check.hpp"
#include "models/gpu/oversubscription.hpp"
#include "models/gpu/policy_check.hpp"
#include "models/host/host.hpp"
#include "models/host_link/link_statistics.hpp"
#include "models/isa/load.hpp"
#include "models/isa/text/kernel_title.hpp"
#include "models/memory/memory_partition.hpp"
#include "models/sm/exception_scheme/registry.hpp"
#include "models/sm/parameters/sm_statistics.hpp"
#include "models/sm/streaming_multiprocessor.hpp"
#include "models/sm/tables/issue_tables.hpp"
#include "models/vm/gmmu.hpp"
#include "models/workload/kernel_arguments.hpp"

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

using Files = std::vector<std::string>;  // of a module; "": its tenant runs on a CPU core

static std::map<Files, std::set<std::string>> launched_by_module(const Scenario& scenario) {
  std::map<Files, std::set<std::string>> launched;
  for (const Tenant& tenant : scenario.tenants) {
    const Files files = tenant.workload.module_files();
    for (const std::string& file : files)
      if (!tenant.cpu) require_file(file, tenant.workload.module_where);
    launched[files].merge(launched_kernels(tenant.workload));
  }
  return launched;
}

static IssueDetail issue_detail(const MachineParameters& parameters) {
  const PolicyParameters& policies = parameters.policies;
  return detail_for(parameters.gpu.sm, policies.exception_scheme, saves_blocks(policies));
}

/// By tenant, in the order of the workload.
static std::vector<std::vector<std::string>> buffer_names(const Scenario& scenario) {
  std::vector<std::vector<std::string>> names;
  for (const Tenant& tenant : scenario.tenants) {
    names.emplace_back();
    for (const Buffer& buffer : tenant.workload.buffers) names.back().push_back(buffer.name);
  }
  return names;
}

static PreemptionMachine preemption_machine(const MachineParameters& parameters) {
  PreemptionMachine machine{Clock(parameters.gpu.sm.clock), parameters.gpu.bandwidth_of_an_sm()};
  if (!is_preemptible(parameters.policies.exception_scheme))
    machine.page_wait = host_fault_parameters(parameters.policies.fault_handling).expected();
  return machine;
}

Machine::Machine(const Scenario& scenario, const MachineParameters& parameters,
                 const Options& options)
    : scenario_(scenario),
      parameters_(with_places(parameters)),
      capture_(options.capture),
      bounds_(options.bounds),
      print_(options.print),
      block_profile_(options.block_profile),
      mapping_(parameters.gpu.mapping(scenario.tenants.size())) {
  check_memory(scenario, parameters);
  load_modules(options.lowering);
  check_victims(scenario, parameters, module_pointers(), module_of_tenant_);
  if (saves_blocks(parameters.policies))
    context_memory_ =
        ContextMemory(scenario, parameters, module_pointers(), module_of_tenant_, *issue_tables());
  core_places_ = CorePlaces(scenario, parameters,
                            parameters.gpu.memory.capacity.count() - context_memory_.bytes());
  foreign_pages_ = foreign_pages(parameters.gpu.memory.fragmentation, core_places_.bytes_before(),
                                 parameters.simulation.seed);
  lay_out();
}

void Machine::load_modules(isa::LoweringOptions lowering) {
  lowering.preemption_points =
      saving_of(parameters_.policies.preemption).stops == StopPlaces::points;
  const SmParameters& sm = parameters_.gpu.sm;
  lowering.unroll_loops = sm.unroll_loops;
  std::map<Files, std::set<std::string>> launched = launched_by_module(scenario_);
  std::vector<Files> known;
  for (const Tenant& tenant : scenario_.tenants) {
    const Files files = tenant.workload.module_files();
    const auto found = std::find(known.begin(), known.end(), files);
    module_of_tenant_.push_back(static_cast<std::uint16_t>(found - known.begin()));
    if (found == known.end()) {
      known.push_back(files);
      modules_.push_back(std::make_unique<isa::Module>(
          tenant.cpu ? isa::Module() : isa::load_modules(files, lowering, launched[files])));
    }
    if (tenant.cpu) continue;
    const isa::Module& module = *modules_[module_of_tenant_.back()];
    validate_workload(tenant.workload, module);
    const auto limits = sm.occupancy_limits(log_entries_of(parameters_.policies.exception_scheme));
    check_launches(tenant.workload, module, limits, sm.count);
  }
}

void Machine::lay_out() {
  const GpuParameters& gpu = parameters_.gpu;
  const Clock noc(gpu.noc.clock), dispatch(gpu.dispatch.clock);
  const Time request = noc.duration(gpu.noc.request_latency);
  const Time response = noc.duration(gpu.noc.response_latency);
  const Time dispatch_link = dispatch.duration(gpu.dispatch.link_latency);
  const Time host_link = parameters_.host.link_latency;
  const Time gmmu_link = Clock(gpu.vm.clock).duration(gpu.vm.link_latency);
  const Time walk_request = gpu.vm.memory_link(request);
  const Time walk_response = gpu.vm.memory_link(response);
  // Relative costs and traffic, for the partitioner: an SM does the most, and talks to partitions.
  constexpr double hub_weight = 0.2, partition_weight = 0.5, sm_weight = 1;
  constexpr double memory_traffic = 1, rare_traffic = 0.02;

  host_kind_ = graph_.add_kind("host");
  dispatcher_kind_ = graph_.add_kind("dispatcher");
  gmmu_kind_ = graph_.add_kind("gmmu");
  partition_kind_ = graph_.add_kind("partition");
  sm_kind_ = graph_.add_kind("sm");
  host_ = graph_.add_component(host_kind_, hub_weight);
  dispatcher_ = graph_.add_component(dispatcher_kind_, hub_weight);
  gmmu_ = graph_.add_component(gmmu_kind_, hub_weight);
  std::vector<ComponentId> partitions;
  std::vector<ComponentId>& sms = sms_;
  for (std::uint32_t i = 0; i < gpu.memory.partitions; ++i) {
    partitions.push_back(graph_.add_component(partition_kind_, partition_weight));
  }
  for (std::uint32_t i = 0; i < gpu.sm.count; ++i) {
    sms.push_back(graph_.add_component(sm_kind_, sm_weight));
  }

  host_to_dispatcher_ = graph_.connect(host_, dispatcher_, host_link, rare_traffic);
  dispatcher_to_host_ = graph_.connect(dispatcher_, host_, host_link, rare_traffic);
  host_to_gmmu_ = graph_.connect(host_, gmmu_, host_link, rare_traffic);
  gmmu_to_host_ = graph_.connect(gmmu_, host_, host_link, rare_traffic);
  for (const ComponentId partition : partitions) {
    gmmu_to_partition_.push_back(graph_.connect(gmmu_, partition, walk_request, rare_traffic));
    partition_to_gmmu_.push_back(graph_.connect(partition, gmmu_, walk_response, rare_traffic));
    host_to_partition_.push_back(graph_.connect(host_, partition, host_link, rare_traffic));
    partition_to_host_.push_back(graph_.connect(partition, host_, host_link, rare_traffic));
  }
  for (const ComponentId sm : sms) {
    host_to_sm_.push_back(graph_.connect(host_, sm, host_link, rare_traffic));
    sm_to_host_.push_back(graph_.connect(sm, host_, host_link, rare_traffic));
    dispatcher_to_sm_.push_back(graph_.connect(dispatcher_, sm, dispatch_link, rare_traffic));
    sm_to_dispatcher_.push_back(graph_.connect(sm, dispatcher_, dispatch_link, rare_traffic));
    gmmu_to_sm_.push_back(graph_.connect(gmmu_, sm, gmmu_link, rare_traffic));
    sm_to_gmmu_.push_back(graph_.connect(sm, gmmu_, gmmu_link, rare_traffic));
  }
  for (const ComponentId sm : sms) {
    std::vector<LinkId>& row = sm_to_partition_.emplace_back();
    for (const ComponentId partition : partitions) {
      row.push_back(graph_.connect(sm, partition, request, memory_traffic));
    }
  }
  for (const ComponentId partition : partitions) {
    std::vector<LinkId>& row = partition_to_sm_.emplace_back();
    for (const ComponentId sm : sms) {
      row.push_back(graph_.connect(partition, sm, response, memory_traffic));
    }
  }
  lay_out_cores(partitions);
  if (const auto all = controllers(); !all.empty()) {
    for (const Coordinator::Controller& one : all)
      epoch_periods_[static_cast<std::size_t>(one.topic)] = one.decides->period();
    add_coordinator(partitions, std::max({request, response, gmmu_link}));
  }
}

std::vector<Link> Machine::links(const std::vector<LinkId>& ids) const {
  std::vector<Link> result;
  for (const LinkId id : ids) result.push_back(graph_.link(id));
  return result;
}

std::vector<const isa::Module*> Machine::module_pointers() const {
  std::vector<const isa::Module*> result;
  for (const auto& module : modules_) result.push_back(module.get());
  return result;
}

std::vector<std::string> Machine::tenant_names() const {
  std::vector<std::string> names;
  for (const Tenant& tenant : scenario_.tenants) names.push_back(tenant.name);
  return names;
}

std::size_t Machine::longest_kernel_name() const {
  std::size_t longest = 0;
  for (const auto& module : modules_)
    for (const isa::Kernel& kernel : module->kernels)
      longest = std::max(longest, isa::kernel_title(kernel.reference.name).size());
  return longest;
}

std::unique_ptr<Component> Machine::build(ComponentId component) const {
  const Graph::Node& node = graph_.nodes()[component.value()];
  if (node.kind == host_kind_) return build_host();
  if (node.kind == dispatcher_kind_) return build_dispatcher();
  if (node.kind == gmmu_kind_) return build_gmmu();
  if (node.kind == partition_kind_) return build_partition(component);
  if (coordinator_ && component == *coordinator_) return build_coordinator();
  if (core_kind_ && node.kind == *core_kind_) return build_core(node.index);
  return build_sm(node.index);
}

std::unique_ptr<Component> Machine::build_host() const {
  Host::Setup setup;
  setup.parameters = parameters_.host;
  setup.tenants = &scenario_.tenants;
  setup.module_of_tenant = module_of_tenant_;
  setup.modules = module_pointers();
  setup.mapping = mapping_;
  setup.memory_bytes = core_places_.bytes_before();
  setup.foreign_pages = foreign_pages_;
  setup.memory_bytes_per_second = parameters_.gpu.memory.bytes_per_second();
  setup.capture = capture_;
  setup.bounds = bounds_;
  setup.print = print_;
  setup.seed = parameters_.simulation.seed;
  setup.record_faults = parameters_.simulation.record_faults;
  setup.fault_handling = parameters_.policies.fault_handling;
  setup.prefetcher = parameters_.policies.prefetcher;
  setup.eviction = parameters_.policies.eviction;
  setup.page_manager = parameters_.policies.page_manager;
  setup.device_pages = parameters_.gpu.vm.device_pages;
  setup.to_gmmu = graph_.link(host_to_gmmu_);
  setup.to_dispatcher = graph_.link(host_to_dispatcher_);
  setup.to_partitions = links(host_to_partition_);
  setup.to_sms = links(host_to_sm_);
  setup.to_cores = links(host_to_core_);
  return std::make_unique<Host>(std::move(setup));
}

std::unique_ptr<Component> Machine::build_dispatcher() const {
  Dispatcher::Setup setup;
  const auto& gpu = parameters_.gpu;
  setup.parameters = gpu.dispatch;
  setup.limits = gpu.sm.occupancy_limits(log_entries_of(parameters_.policies.exception_scheme));
  setup.sharing = parameters_.policies.sharing;
  setup.preemption = parameters_.policies.preemption;
  setup.preemption_machine = preemption_machine(parameters_);
  setup.machine.sm_count = gpu.sm.count;
  for (const Tenant& tenant : scenario_.tenants) {
    setup.machine.sms_per_tenant.push_back(tenant.cpu ? SharingSetup::no_sms : tenant.sms);
    setup.instructions.push_back(tenant.cpu ? 0 : tenant.instructions);
    setup.latency_bounds.push_back(tenant.latency_bound);
  }
  setup.block_profile = block_profile_;
  setup.modules = module_pointers();
  setup.to_host = graph_.link(dispatcher_to_host_);
  setup.to_sms = links(dispatcher_to_sm_);
  return std::make_unique<Dispatcher>(std::move(setup));
}

std::unique_ptr<Component> Machine::build_gmmu() const {
  Gmmu::Setup setup;
  setup.parameters = parameters_.gpu.vm;
  setup.replay = host_fault_parameters(parameters_.policies.fault_handling).replay;
  setup.squashes = is_preemptible(parameters_.policies.exception_scheme);
  setup.local = gpu_fault_handling(parameters_.policies.fault_handling).value_or(LocalHandling{});
  setup.mapping = mapping_;
  setup.noc = parameters_.gpu.noc;
  setup.tenants = scenario_.tenants.size();
  setup.to_sms = links(gmmu_to_sm_);
  setup.to_partitions = links(gmmu_to_partition_);
  setup.to_host = graph_.link(gmmu_to_host_);
  const auto policy = [&](const PolicyChoice& choice) {
    return GmmuPolicySetup{choice, setup.parameters, setup.tenants, parameters_.simulation.seed,
                           gmmu_};
  };
  setup.translation = make_translation_path(policy(parameters_.policies.translation),
                                            make_tlb_fill(policy(parameters_.policies.tlb_fill)));
  setup.epochs = epochs_of(gmmu_);
  return std::make_unique<Gmmu>(std::move(setup));
}

const std::shared_ptr<const IssueTables>& Machine::issue_tables() const {
  if (!issue_tables_)
    issue_tables_ =
        make_issue_tables(parameters_.gpu.sm, module_pointers(), issue_detail(parameters_));
  return issue_tables_;
}

std::unique_ptr<Component> Machine::build_sm(std::uint32_t index) const {
  StreamingMultiprocessor::Setup setup;
  setup.parameters = parameters_.gpu.sm;
  setup.noc = parameters_.gpu.noc;
  setup.warp_scheduler = parameters_.policies.warp_scheduler;
  setup.exception_scheme = parameters_.policies.exception_scheme;
  setup.block_switching = parameters_.policies.block_switching;
  setup.contexts = context_memory_.area_of(index);
  setup.follows_blocks = needs_of_preemption(parameters_.policies.preemption).follows;
  setup.idempotence = needs_of_preemption(parameters_.policies.preemption).idempotence;
  setup.index = index;
  setup.record_blocks = parameters_.simulation.record_blocks;
  setup.tenants = tenant_names();
  setup.buffers = buffer_names(scenario_);
  setup.modules = module_pointers();
  setup.issue_tables = issue_tables();
  setup.constant_rows = constant_rows_;
  setup.mapping = mapping_;
  setup.local_memory_base = parameters_.gpu.memory.capacity.count();
  setup.to_partitions = links(sm_to_partition_[index]);
  setup.to_host = graph_.link(sm_to_host_[index]);
  setup.to_dispatcher = graph_.link(sm_to_dispatcher_[index]);
  setup.vm = parameters_.gpu.vm;
  setup.replay = host_fault_parameters(parameters_.policies.fault_handling).replay;
  setup.to_gmmu = graph_.link(sm_to_gmmu_[index]);
  setup.sides = sm_sides(index);
  setup.epochs = epochs_of(sms_[index]);
  return std::make_unique<StreamingMultiprocessor>(std::move(setup));
}

std::unique_ptr<Component> Machine::build_partition(ComponentId component) const {
  const std::uint32_t index = graph_.nodes()[component.value()].index;
  MemoryParameters memory = parameters_.gpu.memory;
  // The threads' local memory stands behind the capacity that buffers may use, and code behind it.
  const std::uint64_t frames = std::uint64_t{4096} * memory.partitions;
  const SmParameters& sm = parameters_.gpu.sm;
  const std::uint64_t local = local_memory_bytes(sm, context_memory_.area_of(0).warps()) * sm.count;
  memory.capacity = Bytes{memory.capacity.count() + round_up(local + code_bytes(sm), frames)};
  MemoryPartition::Setup setup;
  setup.parameters = memory;
  setup.noc = parameters_.gpu.noc;
  setup.index = PartitionId{static_cast<std::uint16_t>(index)};
  setup.mapping = mapping_;
  setup.sources = request_sources(index);
  setup.foreign_pages = foreign_pages_;
  setup.tenants = scenario_.tenants.size();
  const auto policy = [&](const PolicyChoice& choice) {
    return PartitionPolicySetup{
        choice, memory, setup.index, setup.tenants, parameters_.simulation.seed, component};
  };
  setup.cache_policy = make_cache_policy(policy(parameters_.policies.cache_policy));
  setup.dram_scheduler = make_dram_scheduler(policy(parameters_.policies.dram_scheduler));
  setup.epochs = epochs_of(component);
  return std::make_unique<MemoryPartition>(std::move(setup));
}

/// Who sends requests to a partition.  The host limits itself by the lines it has in flight, the
/// GMMU by walkers and exchanges.
RequestSources Machine::request_sources(std::uint32_t partition) const {
  RequestSources sources;
  const std::vector<Link> sms = links(partition_to_sm_[partition]);
  const Link gmmu = graph_.link(partition_to_gmmu_[partition]);
  const Link host = graph_.link(partition_to_host_[partition]);
  sources.add(SourceKind::sm, "sm", sms, parameters_.gpu.noc.credits);
  sources.add(SourceKind::gmmu, "gmmu", {&gmmu, 1}, RequestSources::unlimited);
  sources.add(SourceKind::host, "host", {&host, 1}, RequestSources::unlimited);
  if (!cores_.empty())
    sources.add(SourceKind::cpu, "cpu", links(partition_to_core_[partition]),
                parameters_.gpu.cpu.credits);
  return sources;
}

StatisticsLayout Machine::statistics_layout() const {
  std::vector<KindStatistics> kinds{
      {"host", &statistics_schema_of<HostStatistics>(), 1},
      {"dispatcher", &statistics_schema_of<DispatchStatistics>(), 1},
      {"gmmu", &statistics_schema_of<GmmuStatistics>(), 1},
      {"partition", &memory_partition_statistics(), parameters_.gpu.memory.partitions},
      {"sm", &statistics_schema_of<SmStatistics>(), parameters_.gpu.sm.count}};
  if (!cores_.empty())
    kinds.push_back({"cpu", &statistics_schema_of<CoreStatistics>(),
                     static_cast<std::uint32_t>(cores_.size())});
  if (coordinator_)
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
  add("dram_scheduler", dram_schedulers().factory(policies.dram_scheduler), partitions);
  add("tlb_fill", tlb_fills().factory(policies.tlb_fill), 1);
  return {std::move(kinds), scenario_.tenants.size()};
}

}  // namespace lockstep
