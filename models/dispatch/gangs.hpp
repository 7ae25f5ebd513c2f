/// Cooperative grids start as a gang: when there are places for all of their blocks, which then go
/// out one after the other, with no other block between them.
///
/// The blocks of such a grid wait for each other at a barrier of the whole grid.  Of two grids that
/// started block by block, each could have some of the places that the other lacks, for ever.  So
/// could an SM that is to be drained of some blocks wait for others that get no place before it is.
/// For the same reason no block of a gang is staged behind others.  A gang that is next, and may
/// not start yet, lets no other grid begin further blocks: places come together as blocks end.
/// Blocks of a gang that have left - saved, flushed - return one by one, as others do: each of them
/// has been there.  A tenant's grids of one module meet in the same memory, and do not overlap.
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
  /// Returns whether a grid of the tenant has begun that meets in the same memory as the gang.
  bool overlaps(const DispatchedGrid& gang) const;
  /// Reserves places for all blocks on SMs with `may_have(sm)`.  Returns false if there are too few
  /// now.
  bool reserve(DispatchedGrid& gang, const std::function<bool(std::uint32_t)>& may_have) const;

 private:
  DispatchedGrids& grids_;
  const SmMirrors& sms_;
};

}  // namespace lockstep
