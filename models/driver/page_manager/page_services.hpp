#pragma once

#include <cstdint>

#include "models/noc/address.hpp"
#include "models/noc/ids.hpp"

namespace lockstep {

/// Services of the driver for a page manager, on pages that are mapped and at rest.
///
/// Each verb begins something and returns true; the page manager hears when it is done
/// (PageManager::rearranged).  It returns false and does nothing if a page is not mapped in GPU
/// memory, or is being mapped, unmapped or rearranged.
/// Source: 004, sections 7.3.3 (coalescing in place, splintering) and 7.3.4 (compaction).
class PageServices {
 public:
  virtual ~PageServices() = default;
  /// The 512 pages from `first` on become a large page: they must be aligned, with one permission,
  /// in one aligned large frame.  Nothing is unmapped, and no TLB entry becomes wrong.
  virtual bool coalesce(TenantId tenant, VirtualPage first) = 0;
  /// The large page that begins at `first` becomes 512 pages again, in the same frames.  It is
  /// unmapped meanwhile, so that no TLB keeps it.
  virtual bool splinter(TenantId tenant, VirtualPage first) = 0;
  /// A page, no large one, moves to the frame `to` of the same partition, which the page manager
  /// has taken; it is unmapped meanwhile.  The frame where it was comes back in PageManager::free.
  virtual bool copy(TenantId tenant, VirtualPage page, Frame to) = 0;
  /// Moves a foreign page, which no tenant maps, to the frame `to` of the same partition, which the
  /// page manager has taken. Then PageManager::foreign_moved is called.
  virtual void move_foreign(std::uint32_t number, Frame to) = 0;
};

}  // namespace lockstep
