#include "models/gpu/machine.hpp"

#include <algorithm>

#include "models/driver/host_statistics.hpp"
#include "models/gpu/memory_check.hpp"
#include "models/gpu/peer_check.hpp"
#include "models/host/host.hpp"

namespace lockstep {
namespace {

/// Returns the GPUs to build: GPUs without tenants are not built.
std::vector<GpuSite::Place> places_of(const MachineParameters& parameters, std::size_t tenants,
                                      const std::string& prefix) {
  std::vector<GpuSite::Place> places;
  if (!parameters.has_several_gpus()) {
    GpuSite::Place& only = places.emplace_back();
    for (std::uint32_t t = 0; t < tenants; ++t) only.tenants.push_back(t);
    only.prefix = prefix;
    return places;
  }
  for (std::uint32_t gpu = 0; gpu < parameters.gpus.size(); ++gpu) {
    std::vector<std::uint32_t> there = parameters.tenants_on(gpu);
    if (there.empty()) continue;
    places.push_back({gpu, std::move(there), static_cast<std::uint32_t>(places.size()),
                      prefix + "gpu" + std::to_string(gpu) + "/"});
  }
  return places;
}

}  // namespace

Machine::Machine(const Scenario& scenario, const MachineParameters& parameters,
                 const Options& options)
    : scenario_(scenario),
      parameters_(parameters),
      capture_(options.capture),
      bounds_(options.bounds),
      print_(options.print),
      warn_(options.warn),
      block_profile_(options.block_profile),
      uplinks_(read_uplinks(parameters.host, scenario.gpus.size())),
      graph_(options.graph ? *options.graph : own_graph_) {
  check_host_memory(scenario, parameters.host);
  host_kind_ = graph_.add_kind(options.prefix + "host");
  lay_out(options);
}

void Machine::lay_out(const Options& options) {
  constexpr double hub_weight = 0.2;  // relative cost, for the partitioner
  host_ = graph_.add_component(host_kind_, hub_weight);
  for (GpuSite::Place& place : places_of(parameters_, scenario_.tenants.size(), options.prefix)) {
    MachineParameters one =
        parameters_.has_several_gpus() ? parameters_.on(place.gpu) : parameters_;
    if (const UplinkParameters* uplink = uplink_of(uplinks_, place.gpu))
      one.host.link_latency += uplink->latency;
    one.host.copy_engines = one.gpu.copy_engines;
    sites_.push_back(
        std::make_unique<GpuSite>(scenario_, one, std::move(place),
                                  GpuSite::Options{options.lowering, capture_, block_profile_}));
    sites_.back()->lay_out(graph_, host_);
  }
  site_of_tenant_.resize(scenario_.tenants.size());
  for (const auto& site : sites_)
    for (std::size_t t = 0; t < site->place().tenants.size(); ++t)
      if (const std::uint32_t number = site->place().tenants[t];
          parameters_.gpu_of(number) == site->place().gpu)
        site_of_tenant_[number] = {site.get(), t};
  if (parameters_.fabric) add_ports();
  if (parameters_.has_several_gpus() || !uplinks_.empty())
    link_units_.lay_out(graph_, host_, sites_, uplinks_, options.prefix);
  links_ = LinkTable(graph_);
  for (std::size_t t = 0; t < scenario_.tenants.size(); ++t)
    if (!scenario_.tenants[t].cpu) check_variables(scenario_.tenants[t], module_of_tenant(t));
}

void Machine::add_ports() {
  constexpr double peer_traffic = 0.5;  // relative traffic, for the partitioner
  const FabricParameters& fabric = parameters_.fabric->parameters();
  for (const auto& site : sites_)
    site->add_port(graph_, host_, parameters_.fabric->links_of(site->place().gpu));
  for (const auto& from : sites_)
    for (const auto& to : sites_)
      if (parameters_.fabric->has_way(from->place().gpu, to->place().gpu))
        graph_.connect(*from->gpu().layout().port, *to->gpu().layout().port, fabric.latency,
                       peer_traffic);
}

std::unique_ptr<Component> Machine::build_port(const GpuSite& site) const {
  std::vector<std::pair<std::uint32_t, KindId>> peers;
  for (const auto& other : sites_)
    if (other.get() != &site)
      peers.emplace_back(other->place().gpu, *other->gpu().layout().port_kind);
  return site.gpu().build_port(*parameters_.fabric, site.place().gpu, site.place().tenants, peers,
                               links_, host_kind_);
}

std::vector<Machine::TenantPlace> Machine::all_places_of(std::size_t tenant) const {
  std::vector<TenantPlace> places;
  for (const auto& site : sites_) {
    const std::vector<std::uint32_t>& there = site->place().tenants;
    const auto found = std::find(there.begin(), there.end(), tenant);
    if (found != there.end())
      places.push_back({site.get(), static_cast<std::size_t>(found - there.begin())});
  }
  return places;
}

std::vector<std::string> Machine::tenant_names() const {
  std::vector<std::string> names;
  for (const Tenant& tenant : scenario_.tenants) names.push_back(tenant.name);
  return names;
}

std::vector<TenantGroup> Machine::tenant_groups() const {
  std::vector<TenantGroup> groups;
  if (!parameters_.has_several_gpus()) return groups;
  for (const auto& site : sites_) {
    TenantGroup& group = groups.emplace_back();
    group.axis = "/axes/" + site->place().prefix + "tenants";
    for (const Tenant& tenant : site->scenario().tenants) group.names.push_back(tenant.name);
  }
  return groups;
}

std::size_t Machine::longest_kernel_name() const {
  std::size_t longest = 0;
  for (const auto& site : sites_)
    longest = std::max(longest, site->modules().longest_kernel_name());
  return longest;
}

std::vector<std::string> Machine::notes() const {
  std::vector<std::string> notes;
  for (const auto& site : sites_)
    for (const std::string& note : site->modules().notes())
      if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  return notes;
}

std::unique_ptr<Component> Machine::build(ComponentId component) const {
  if (graph_.nodes()[component.value()].kind == host_kind_) return build_host();
  if (link_units_.has(component))
    return link_units_.build(graph_, component, sites_, scenario_.tenants.size(), links_);
  const GpuSite& site = site_of(component);
  if (site.gpu().layout().port == component) return build_port(site);
  return site.build(graph_, component, links_, host_kind_);
}

HostPart::Setup Machine::part_for(std::size_t number) const {
  const GpuSite& site = *sites_[number];
  const MachineParameters& parameters = site.parameters();
  const GpuBuilder& gpu = site.gpu();
  HostPart::Setup setup;
  setup.parameters = parameters.host;
  setup.tenants = &site.scenario().tenants;
  setup.numbers = site.place().tenants;
  setup.module_of_tenant = site.modules().module_of_tenant();
  setup.modules = site.modules().pointers();
  setup.mapping = gpu.mapping();
  setup.memory_bytes = gpu.core_places().bytes_before();
  setup.foreign_pages = gpu.foreign_pages();
  setup.memory_bytes_per_second = parameters.gpu.memory.bytes_per_second();
  setup.capture = capture_;
  setup.bounds = bounds_;
  setup.seed = parameters.simulation.seed;
  setup.record_faults = parameters.simulation.record_faults;
  setup.fault_handling = parameters.policies.fault_handling;
  setup.prefetcher = parameters.policies.prefetcher;
  setup.eviction = parameters.policies.eviction;
  setup.page_manager = parameters.policies.page_manager;
  setup.peer_policy = parameters.policies.peer_policy;
  setup.device_pages = parameters.gpu.vm.device_pages;
  const GpuBuilder::Layout& layout = gpu.layout();
  setup.to_gmmu = links_.to_one(host_, layout.gmmu_kind);
  setup.to_dispatcher = links_.to_one(host_, layout.dispatcher_kind);
  setup.to_partitions = links_.to_all(host_, layout.partition_kind);
  setup.to_sms = links_.to_all(host_, layout.sm_kind);
  if (site.cores().kind()) setup.to_cores = links_.to_all(host_, *site.cores().kind());
  setup.stretches = gpu.copies_in_stretches();
  setup.group = site.place().group;
  setup.gpu = site.place().gpu;
  if (parameters_.fabric) {
    setup.fabric = &*parameters_.fabric;
    setup.to_port = {links_.to_one(host_, *layout.port_kind)};
  }
  if (const std::optional<LinkId> to_unit = link_units_.from_host(number))
    setup.to_unit = graph_.link(*to_unit);
  return setup;
}

std::unique_ptr<Component> Machine::build_host() const {
  Host::Setup setup;
  for (std::size_t s = 0; s < sites_.size(); ++s) setup.parts.push_back(part_for(s));
  if (sites_.size() > 1) {
    for (std::uint32_t link = 0; link < graph_.edges().size(); ++link) {
      const ComponentId sender = graph_.edges()[link].source;
      std::size_t part = link_units_.site_of(LinkId{link}).value_or(0);
      if (!link_units_.has(sender))
        while (part < sites_.size() && !sites_[part]->has(graph_, sender)) ++part;
      setup.part_of_link.push_back(part);
    }
  }
  setup.tenants = &scenario_.tenants;
  for (const auto& site : sites_)
    setup.link_latency = std::max(setup.link_latency, site->parameters().host.link_latency);
  setup.progress_limit = parameters_.simulation.progress_limit;
  setup.print = print_;
  setup.warn = warn_;
  return std::make_unique<Host>(std::move(setup));
}

StatisticsLayout Machine::statistics_layout() const {
  // When several GPUs have parts of the host, the component itself counts nothing.
  const bool is_whole = !parameters_.has_several_gpus();
  std::vector<KindStatistics> kinds{
      {"host", &statistics_schema_of<HostStatistics>(), is_whole ? 1u : 0u}};
  for (const auto& site : sites_) site->add_kinds(kinds);
  for (const auto& site : sites_) site->add_kind_of_port(kinds);
  link_units_.add_kinds(kinds);
  for (const auto& site : sites_) site->add_kinds_of_parts(kinds);
  if (!uplinks_.empty())
    kinds.push_back({"uplink", &statistics_schema_of<UplinkStatistics>(),
                     static_cast<std::uint32_t>(2 * uplinks_.size())});
  std::vector<std::size_t> groups;
  for (const TenantGroup& group : tenant_groups()) groups.push_back(group.names.size());
  return {std::move(kinds), scenario_.tenants.size(), std::move(groups)};
}

const GpuSite& Machine::site_of(ComponentId component) const {
  for (const auto& site : sites_)
    if (site->has(graph_, component)) return *site;
  internal_error(__FILE__, __LINE__, "on a GPU", graph_.name(component) + " is on no GPU");
}

}  // namespace lockstep
