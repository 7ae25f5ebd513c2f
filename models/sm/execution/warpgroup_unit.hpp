/// Products of warp groups, with the SM's four tensor cores as one unit, and registers that warps
/// pass to each other.
///
/// A warp computes its part where it issues the product, and goes on; its wait for a group of
/// products is what takes time.  A product starts when the last of its four warps has issued it and
/// the products before it, of all warp groups, leave the tensor cores.  A product that has started
/// is in flight: its block is not saved before the product is complete.
/// Source: modern-isa.md, sections 3.4, 3.5, 4.1 and 5.7.
///
/// Simplified: mma.sync takes no cycles from wgmma, and operands in shared memory take none from
/// the banks.  Each warp group has a queue of its own.
///
/// Cost model: a product of n columns occupies the unit for n / 8 * wgmma.interval_of_8_columns
/// cycles, or for the time in which its operands come, if that is longer: A and B by
/// wgmma.operand_bytes_per_cycle, A in registers wgmma.register_operand.  It is complete
/// wgmma.latency cycles and one for each register of D after its start.
#pragma once

#include <cstdint>

#include "core/checkpoint/archive.hpp"
#include "models/isa/matrix/warpgroup_form.hpp"
#include "models/sm/blocks/mistakes.hpp"
#include "models/sm/execution/control.hpp"
#include "models/sm/front_end/front_end.hpp"
#include "models/sm/parameters/sm_context.hpp"

namespace lockstep {

class WarpgroupUnit {
 public:
  WarpgroupUnit(const SmContext& sm, FrontEnd& front_end, ControlUnit& control)
      : constants_(sm.constants),
        blocks_(sm.blocks),
        mistakes_(sm.mistakes),
        front_end_(front_end),
        control_(control) {}

  /// Returns whether the warp may issue one more product. If not, the warp looks again when a
  /// product is complete.
  bool has_room_for(WarpSlot slot, SmCycle now);
  /// Executes a warpgroup_product. Throws a Mistake.
  void multiply(WarpSlot slot, const isa::Instruction& product, std::uint32_t active, SmCycle now);
  void commit(WarpSlot slot);
  /// Returns whether all but the warp's `newest` groups are complete. If not, the warp looks again
  /// when a product is.
  bool is_through(WarpSlot slot, std::uint32_t newest, SmCycle now);
  /// Executes a register_limit. Returns whether there were enough registers. If not, the warp tries
  /// again when another warp of its block gives some back. Throws a Mistake.
  bool set_registers(WarpSlot slot, const isa::Instruction& limit, SmCycle now);

  void serialize(Archive& archive) {
    archive.section("sm/wgmma", 1);
    archive(free_);
  }

 private:
  WarpgroupProgress& progress_of(const Warp& warp);
  void require_right(const Warp& warp, const isa::Instruction& product) const;
  /// Counts the issue of the group's next product by the warp.  Throws a Mistake if the other warps
  /// issue a different one.
  void count_issue(const Warp& warp, WarpgroupProgress& progress);
  void start(const Warp& warp, WarpgroupProgress& progress, const isa::WarpgroupForm& form,
             SmCycle now);
  /// Returns the cycles for which a product occupies the unit.
  std::int64_t interval_of(const isa::WarpgroupForm& form) const;

  const SmConstants& constants_;
  ResidentBlocks& blocks_;
  Mistakes& mistakes_;
  FrontEnd& front_end_;
  ControlUnit& control_;
  SmCycle free_;  ///< cycle from which the next product can start
};

}  // namespace lockstep
