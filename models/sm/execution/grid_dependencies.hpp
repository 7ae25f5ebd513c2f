/// griddepcontrol: what blocks of grids that overlap tell each other, by way of the dispatcher.
///
/// `launch_dependents` tells the dispatcher once for each block, by whichever thread comes first.
/// `wait` does not issue before the dispatcher has told that the grid's primary has ended.  What
/// was loaded before that is not seen again: the SM's clean global sectors are dropped, as for an
/// acquire.  A grid without a primary does not wait.
/// Source: PTX ISA, "griddepcontrol"; who may begin: models/dispatch/dependents.hpp.
///
/// Cost model: an issue slot, and the way from the SM to the dispatcher or back; waiting counts as
/// the stall cause `fence`.
#pragma once

#include <string>

#include "models/isa/instruction.hpp"
#include "models/sm/front_end/front_end.hpp"
#include "models/sm/l1/l1.hpp"
#include "models/sm/parameters/sm_context.hpp"
#include "models/sm/ports/sm_ports.hpp"

namespace lockstep {

class GridDependencies {
 public:
  GridDependencies(const SmContext& sm, FrontEnd& front_end, L1& l1)
      : constants_(sm.constants),
        blocks_(sm.blocks),
        ports_(sm.ports),
        front_end_(front_end),
        l1_(l1) {}

  /// Returns whether the warp may go on behind its griddepcontrol.wait.
  bool has_passed(WarpSlot slot, const isa::Instruction& wait) const;
  void issue(WarpSlot slot, const isa::Instruction& instruction, SmCycle now);
  /// Notes that the grid ahead, beside which this one has begun, has ended.
  void primary_is_over(GridId grid, SmCycle now);
  /// Returns which warps wait, for reports.
  std::string waiting_for() const;

 private:
  bool stands_at_wait(WarpSlot slot) const;

  const SmConstants& constants_;
  ResidentBlocks& blocks_;
  SmPorts& ports_;
  FrontEnd& front_end_;
  L1& l1_;
};

}  // namespace lockstep
