#pragma once

#include <cstdint>

#include "models/noc/address.hpp"
#include "models/noc/ids.hpp"

namespace lockstep {

/// Services of the driver for a page manager, on pages that are mapped and at rest.
///
/// Each service starts an action and returns true; PageManager::rearranged is called at its end.  A
/// service returns false and does nothing if a page is not mapped in GPU memory, or is being
/// mapped, unmapped or rearranged.
/// Source: 004, sections 7.3.3 (coalescing in place, splintering) and 7.3.4 (compaction).
class PageServices {
 public:
  virtual ~PageServices() = default;
  /// Makes the 512 pages from `first` on a large page.  Precondition: they are aligned, with one
  /// permission, in one aligned large frame.  Nothing is unmapped, and no TLB entry becomes wrong.
  virtual bool coalesce(TenantId tenant, VirtualPage first) = 0;
  /// Makes the large page that begins at `first` 512 pages again, in the same frames.  It is
  /// unmapped meanwhile, so that no TLB keeps it.
  virtual bool splinter(TenantId tenant, VirtualPage first) = 0;
  /// Moves a base page to the frame `to` of the same partition, which the page manager has taken;
  /// the page is unmapped meanwhile.  Its old frame comes back in PageManager::free.
  virtual bool copy(TenantId tenant, VirtualPage page, Frame to) = 0;
  /// Moves a foreign page, which no tenant maps, to the frame `to` of the same partition, which the
  /// page manager has taken. PageManager::foreign_moved is called at the end.
  virtual void move_foreign(std::uint32_t number, Frame to) = 0;
};

}  // namespace lockstep
