#pragma once

#include "core/engine/link.hpp"
#include "models/driver/host_cycle.hpp"
#include "models/driver/page_manager/page_tables.hpp"
#include "models/noc/grid_messages.hpp"
#include "models/vm/local_handling.hpp"

namespace lockstep {

/// News of the driver for the GMMU, and requests to it.
class GmmuNews {
 public:
  GmmuNews(Link to_gmmu, const PageTables& tables) : to_gmmu_(to_gmmu), tables_(tables) {}

  /// Tells the GMMU the entries of the pages.
  void announce(const TenantPages& pages, const HostCycle& cycle);
  /// Pages that the GMMU knows have become a large page.
  void coalesced(const TenantPages& pages, const HostCycle& cycle);
  /// The page belongs to no buffer.
  void announce_invalid(TenantId tenant, VirtualPage page, const HostCycle& cycle);
  /// Tells the GMMU the start of the tenant's tables; 0: it has none any more.
  void set_root(TenantId tenant, PhysicalAddress root, const HostCycle& cycle);
  /// Has the entries of the pages taken away.  Returns the number of answers to come, each with
  /// `id`.
  std::uint32_t unmap(const TenantPages& pages, std::uint32_t id, const HostCycle& cycle);

  /// A granule of zeroed frames is for the GMMU's handlers.
  void zeroed_frames(const GranuleFrames& frames, const HostCycle& cycle);

  /// A grid begins or ends.
  void mark(MessageKind kind, const GridMark& mark, const HostCycle& cycle);

  template <class Archive>
  void serialize(Archive& archive) {
    archive(to_gmmu_);
  }

 private:
  void tell(const TenantPages& part, std::uint64_t marks, const HostCycle& cycle);

  Link to_gmmu_;
  const PageTables& tables_;
};

}  // namespace lockstep
