/// Cooperative grids start as a gang: only when there are places for all of their blocks, which
/// then go out one after the other with no other block in between.
///
/// The blocks of such a grid wait for each other at a barrier of the whole grid.  Two grids that
/// started block by block could each hold places that the other lacks, for ever.  Likewise an SM
/// that drains some blocks of a gang could wait for others that get no place before it is drained.
/// For the same reason no block of a gang is staged behind others.  A gang that is next and may not
/// start yet lets no other grid begin further blocks, so that places accumulate as blocks end.
/// Blocks of a gang that were saved or flushed return one by one, as others do, since all of them
/// have been on an SM.  Cooperative grids of a tenant that belong to one module use the same memory
/// for their barrier, and do not overlap.
/// Source: CUDA C++ Programming Guide, "Grid Synchronization" (all blocks are resident at once).
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>

#include "models/dispatch/dispatched_grid.hpp"
#include "models/dispatch/sm_mirrors.hpp"

namespace lockstep {

class Gangs {
 public:
  Gangs(DispatchedGrids& grids, const SmMirrors& sms) : grids_(grids), sms_(sms) {}

  /// Returns the index of the gang whose blocks are going out.
  std::optional<std::size_t> gathering() const;
  /// Returns whether a grid of the tenant has begun that uses the same memory for its barrier as
  /// the gang.
  bool overlaps(const DispatchedGrid& gang) const;
  /// Reserves places for all blocks on SMs with `may_have(sm)`.  Returns false if there are too few
  /// places now.
  bool reserve(DispatchedGrid& gang, const std::function<bool(std::uint32_t)>& may_have) const;

 private:
  DispatchedGrids& grids_;
  const SmMirrors& sms_;
};

}  // namespace lockstep
