/// Spilling: while a function needs more registers than it may have, the value that is live longest
/// for the least use goes to the thread's local memory, a predicate to a register (spill.cpp).
#include "models/isa/lowering/allocation/allocate.hpp"

#include <algorithm>
#include <vector>

#include "core/error/error.hpp"
#include "models/isa/lowering/allocation/held_operands.hpp"
#include "models/isa/lowering/allocation/live_ranges.hpp"
#include "models/isa/lowering/allocation/spill.hpp"
#include "models/isa/lowering/analysis/operation.hpp"

namespace lockstep::isa::lowering {

namespace {

/// Registers of A stay as long as anything else can leave: a product that is under way reads them.
std::uint32_t choose_victim(const ir::Function& function, const std::vector<LiveRange>& ranges,
                            bool predicate, const std::vector<std::uint32_t>& temporaries,
                            const std::vector<bool>& is_a) {
  constexpr double last = 1e-12;
  std::vector<bool> excluded(ranges.size());
  for (const std::uint32_t r : temporaries) excluded[r] = true;
  std::uint32_t victim = ir::no_register;
  double best = 0;
  for (std::uint32_t r = 0; r < ranges.size(); ++r) {
    if (ranges[r].empty() || (function.registers[r].type == Type::pred) != predicate) continue;
    if (excluded[r] || is_formal(function, r)) continue;
    const bool is_operand = r < is_a.size() && is_a[r];
    const double gain = (is_operand ? last : 1) * ranges[r].length() *
                        static_cast<double>(std::max(1U, rows_of(function.registers[r].type))) /
                        std::max(ranges[r].weight, 1.0);
    if (gain > best) {
      best = gain;
      victim = r;
    }
  }
  LOCKSTEP_CHECK(victim != ir::no_register, "register allocation: nothing left to spill");
  return victim;
}

/// Returns the number of rows, or predicates, that are live at once somewhere: no assignment needs
/// fewer.
std::uint32_t most_live(const ir::Function& function, const std::vector<LiveRange>& ranges,
                        bool predicates) {
  std::vector<std::int32_t> change;
  const auto add = [&](std::uint32_t position, std::int32_t by) {
    if (change.size() <= position) change.resize(position + 1);
    change[position] += by;
  };
  for (std::uint32_t r = 0; r < ranges.size(); ++r) {
    const Type type = function.registers[r].type;
    if ((type == Type::pred) != predicates) continue;
    const auto rows = static_cast<std::int32_t>(predicates ? 1 : rows_of(type));
    for (const LiveRange::Segment& segment : ranges[r].segments) {
      add(segment.from, rows);
      add(segment.to, -rows);
    }
  }
  std::int32_t live = 0, most = 0;
  for (const std::int32_t by : change) most = std::max(most, live += by);
  return static_cast<std::uint32_t>(most);
}

}  // namespace

Allocation allocate(ir::Function& function, std::uint32_t maximum_registers,
                    std::uint32_t maximum_predicates) {
  const std::uint64_t local_before = function.local_bytes;
  std::vector<std::uint32_t> temporaries;
  const Flow flow(function);  // spilling adds to blocks and makes none
  const std::vector<bool> operands = operands_a(function);
  hold_operands(function, flow);
  std::vector<LiveRange> ranges = live_ranges(function);
  for (;;) {
    bool predicate = most_live(function, ranges, true) > maximum_predicates;
    // Rows are assigned only when they may suffice, since assigning costs more than everything else
    // here.
    if (!predicate && most_live(function, ranges, false) + reserved_registers > maximum_registers) {
      predicate = count_predicates(function, ranges) > maximum_predicates;
    } else if (!predicate) {
      Allocation allocation = assign_rows(function, ranges, maximum_registers);
      predicate = allocation.predicates > maximum_predicates;
      if (!predicate && allocation.registers_per_thread <= maximum_registers) {
        allocation.spill_bytes = function.local_bytes - local_before;
        return allocation;
      }
    }
    spill(function, flow, choose_victim(function, ranges, predicate, temporaries, operands), ranges,
          temporaries);
  }
}

}  // namespace lockstep::isa::lowering
