/// Components that serve the transfers of host links where a machine has several GPUs: one for each
/// GPU, or for all GPUs behind an uplink (host_link/link_unit.hpp).
///
/// The unit of one GPU stands near it, at a quarter of the link's latency, and belongs to its
/// group: lines do not leave the GPU's ranks, and ranks meet as seldom as the rest of the latency
/// lets them.  That of an uplink stands half-way.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/gpu/gpu_site.hpp"
#include "models/host_link/uplink.hpp"

namespace lockstep {

class LinkUnits {
 public:
  using Sites = std::vector<std::unique_ptr<GpuSite>>;

  /// Adds the units to the graph, behind all other components.
  void lay_out(Graph& graph, ComponentId host, const Sites& sites,
               const std::vector<UplinkParameters>& uplinks, const std::string& prefix);
  bool has(ComponentId component) const;
  std::unique_ptr<Component> build(const Graph& graph, ComponentId component, const Sites& sites,
                                   std::size_t tenants, const LinkTable& links) const;
  /// Adds the kinds of the units to the statistics of the output, in the order of the graph.
  void add_kinds(std::vector<KindStatistics>& kinds) const;

  /// Returns the host's way to the unit of a GPU; none: the host serves its link.
  std::optional<LinkId> from_host(std::size_t site) const;
  /// Returns the GPU's place among the sites of which a link to the host tells.
  std::optional<std::size_t> site_of(LinkId to_host) const;

 private:
  struct Unit {
    ComponentId component;
    std::vector<std::size_t> sites;
    std::vector<LinkId> from_host, to_host;  ///< links from and to the host, for each site
    Time near;                               ///< latency between the unit and the GPUs
    std::optional<Bandwidth> uplink;
  };
  void connect(Graph& graph, ComponentId host, const Sites& sites, Unit unit);

  std::vector<Unit> units_;
  std::vector<std::string> kinds_;
};

}  // namespace lockstep
