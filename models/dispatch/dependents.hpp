/// Grids that begin before the previous grid in their stream has ended (programmatic dependent
/// launch).
///
/// The host sends such a launch while the grid before it, its primary, still runs.  The dependent
/// grid may begin when every block of the primary has executed griddepcontrol.launch_dependents or
/// has ended: all of them have places by then, so that blocks of the dependent grid that wait in
/// griddepcontrol.wait keep none from the primary.  That wait ends when the primary has ended, with
/// all its stores acknowledged; a message tells the SMs.  A dependent grid ends after its primary,
/// so that waiting for one grid includes all before it. Where blocks leave SMs before they have
/// ended (for more urgent grids, or for a page), a dependent grid begins only when its primary has
/// ended, which the programming model allows: its blocks could otherwise wait at places to which
/// blocks of the primary must return.
/// Source: PTX ISA, "griddepcontrol"; CUDA C++ Programming Guide, "Programmatic Dependent Launch
/// and Synchronization" (the second kernel may begin; nothing says that it does).
#pragma once

#include <string>
#include <vector>

#include "models/dispatch/dispatched_grid.hpp"

namespace lockstep {

class Dependents {
 public:
  Dependents(DispatchedGrids& grids, bool overlap) : grids_(grids), overlap_(overlap) {}

  /// A grid has arrived.
  void accept(DispatchedGrid& grid) const;
  /// Notes that a block of the grid lets the next grid begin, or has ended without doing so.
  void let_go(DispatchedGrid& grid) const;
  /// Returns the grid that depends on this one; end(): none has arrived.
  DispatchedGrids::iterator of(std::uint32_t primary) const;
  /// The grid's primary has ended.
  static void primary_is_over(DispatchedGrid& grid, std::vector<Link>& to_sms, Time now,
                              Outbox& outbox);
  /// Returns the grids that do not begin yet, for reports.
  std::string waiting_for() const;

 private:
  DispatchedGrids& grids_;
  const bool overlap_;
};

}  // namespace lockstep
