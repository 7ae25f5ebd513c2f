#include "models/gpu/link_units.hpp"

#include <algorithm>

#include "models/gpu/initial_contents.hpp"
#include "models/host_link/link_unit.hpp"
#include "models/workload/tenant_priorities.hpp"

namespace lockstep {

namespace {

constexpr double unit_weight = 0.2;  // relative cost, for the partitioner

Time part_of(Time latency, std::int64_t parts) {
  return Time{std::max<std::int64_t>(1, latency.femtoseconds() / parts)};
}

}  // namespace

void LinkUnits::lay_out(Graph& graph, ComponentId host, const Sites& sites,
                        const std::vector<UplinkParameters>& uplinks, const std::string& prefix) {
  std::vector<bool> is_served(sites.size(), false);
  if (!uplinks.empty()) {
    kinds_.push_back(prefix + "uplink_unit");
    const KindId kind = graph.add_kind(kinds_.back());
    for (const UplinkParameters& uplink : uplinks) {
      Unit unit;
      unit.uplink = uplink.bandwidth;
      for (std::size_t s = 0; s < sites.size(); ++s) {
        if (uplink_of(uplinks, sites[s]->place().gpu) != &uplink) continue;
        unit.sites.push_back(s);
        is_served[s] = true;
        unit.near = part_of(sites[s]->parameters().host.link_latency, 2);
      }
      unit.component = graph.add_component(kind, unit_weight);
      connect(graph, host, sites, std::move(unit));
    }
  }
  for (std::size_t s = 0; s < sites.size(); ++s) {
    if (is_served[s]) continue;
    const GpuSite::Place& place = sites[s]->place();
    kinds_.push_back(place.prefix + "link_unit");
    Unit unit;
    unit.sites.push_back(s);
    unit.near = part_of(sites[s]->parameters().host.link_latency, 4);
    unit.component = graph.add_component(graph.add_kind(kinds_.back()), unit_weight, place.group);
    connect(graph, host, sites, std::move(unit));
  }
}

void LinkUnits::connect(Graph& graph, ComponentId host, const Sites& sites, Unit unit) {
  constexpr double rare_traffic = 0.02;
  for (const std::size_t s : unit.sites) {
    const Time far = sites[s]->parameters().host.link_latency - unit.near;
    unit.from_host.push_back(graph.connect(host, unit.component, far, rare_traffic));
    unit.to_host.push_back(graph.connect(unit.component, host, far, rare_traffic));
    sites[s]->connect_link(graph, unit.component, unit.near);
  }
  units_.push_back(std::move(unit));
}

bool LinkUnits::has(ComponentId component) const {
  return std::any_of(units_.begin(), units_.end(),
                     [&](const Unit& unit) { return unit.component == component; });
}

std::unique_ptr<Component> LinkUnits::build(const Graph& graph, ComponentId component,
                                            const Sites& sites, std::size_t tenants,
                                            const LinkTable& links) const {
  const Unit& unit = *std::find_if(units_.begin(), units_.end(),
                                   [&](const Unit& one) { return one.component == component; });
  LinkUnit::Setup setup;
  setup.uplink = unit.uplink;
  setup.tenants = tenants;
  setup.port_of_link.resize(graph.edges().size());
  for (std::size_t p = 0; p < unit.sites.size(); ++p) {
    const GpuSite& site = *sites[unit.sites[p]];
    const GpuBuilder::Layout& layout = site.gpu().layout();
    LinkUnit::PortSetup port;
    port.parameters = site.parameters().host;
    port.mapping = site.gpu().mapping();
    port.priorities = priorities_of(site.scenario().tenants);
    port.tenants = site.place().tenants;
    port.initial = InitialContents(site.scenario().tenants);
    port.stretches = site.gpu().copies_in_stretches();
    port.group = site.place().group;
    port.to_host = graph.link(unit.to_host[p]);
    port.to_partitions = links.to_all(component, layout.partition_kind);
    port.to_sms = links.to_all(component, layout.sm_kind);
    setup.from_host = graph.edges()[unit.from_host[p].value()].latency;
    for (std::uint32_t link = 0; link < graph.edges().size(); ++link) {
      const Graph::Edge& edge = graph.edges()[link];
      if (edge.destination != component) continue;
      if (LinkId{link} == unit.from_host[p] || site.has(graph, edge.source))
        setup.port_of_link[link] = static_cast<std::uint32_t>(p);
    }
    setup.ports.push_back(std::move(port));
  }
  return std::make_unique<LinkUnit>(std::move(setup));
}

void LinkUnits::add_kinds(std::vector<KindStatistics>& kinds) const {
  for (const std::string& kind : kinds_)
    kinds.push_back({kind, &statistics_schema_of<NoStatistics>(), 0});
}

std::optional<LinkId> LinkUnits::from_host(std::size_t site) const {
  for (const Unit& unit : units_)
    for (std::size_t p = 0; p < unit.sites.size(); ++p)
      if (unit.sites[p] == site) return unit.from_host[p];
  return std::nullopt;
}

std::optional<std::size_t> LinkUnits::site_of(LinkId to_host) const {
  for (const Unit& unit : units_)
    for (std::size_t p = 0; p < unit.sites.size(); ++p)
      if (unit.to_host[p] == to_host) return unit.sites[p];
  return std::nullopt;
}

}  // namespace lockstep
