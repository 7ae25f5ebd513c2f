/// Spilling: while a function needs more registers than it may have, a value that is live where too
/// many are goes to the thread's local memory, a predicate to a register (spill.cpp).  A constant
/// is moved again before each use.
#include "models/isa/lowering/allocation/allocate.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/error/error.hpp"
#include "models/isa/lowering/allocation/held_operands.hpp"
#include "models/isa/lowering/allocation/live_ranges.hpp"
#include "models/isa/lowering/allocation/spill.hpp"
#include "models/isa/lowering/analysis/operation.hpp"

namespace lockstep::isa::lowering {

namespace {

/// Rows, or predicates, that are live at each position.
class Pressure {
 public:
  Pressure(const ir::Function& function, const std::vector<LiveRange>& ranges, bool predicates) {
    for (std::uint32_t r = 0; r < ranges.size(); ++r) {
      const Type type = function.registers[r].type;
      if ((type == Type::pred) != predicates) continue;
      const auto rows = static_cast<std::int32_t>(predicates ? 1 : rows_of(type));
      for (const LiveRange::Segment& segment : ranges[r].segments) {
        add(segment.from, rows);
        add(segment.to, -rows);
      }
    }
    std::partial_sum(live_.begin(), live_.end(), live_.begin());
    if (!live_.empty()) most_ = static_cast<std::uint32_t>(*std::ranges::max_element(live_));
  }

  /// Returns the most that are live at once: no assignment needs fewer.
  std::uint32_t most() const { return most_; }

  /// Finds the positions where more are live than `allowed`, or as many as anywhere.
  void find_crowded(std::uint32_t allowed) {
    const auto bound = static_cast<std::int32_t>(std::min(allowed + 1, most_));
    crowded_.assign(live_.size() + 1, 0);
    for (std::size_t p = 0; p < live_.size(); ++p)
      crowded_[p + 1] = crowded_[p] + (live_[p] >= bound ? 1 : 0);
  }
  /// Returns the number of crowded positions at which the range is live.
  std::uint32_t crowded(const LiveRange& range) const {
    std::uint32_t sum = 0;
    for (const LiveRange::Segment& segment : range.segments)
      sum += crowded_[segment.to] - crowded_[segment.from];
    return sum;
  }

 private:
  void add(std::uint32_t position, std::int32_t by) {
    if (live_.size() <= position) live_.resize(position + 1);
    live_[position] += by;
  }

  std::vector<std::int32_t> live_;      ///< number at each position
  std::vector<std::uint32_t> crowded_;  ///< crowded positions before each position
  std::uint32_t most_ = 0;
};

/// Chooses the value that is live at the most crowded positions for the least use.  Registers of A
/// stay as long as anything else can leave: a product that is under way reads them.
std::uint32_t choose_victim(const ir::Function& function, const std::vector<LiveRange>& ranges,
                            const Pressure& pressure, bool predicate,
                            const std::vector<std::uint32_t>& temporaries,
                            const std::vector<bool>& is_a, const Constants& constants) {
  constexpr double last = 1e-12;
  constexpr double move = 0.25;  // cost of a move beside that of a load and its wait
  std::vector<bool> excluded(ranges.size());
  for (const std::uint32_t r : temporaries) excluded[r] = true;
  std::uint32_t victim = ir::no_register;
  double best = 0;
  for (std::uint32_t r = 0; r < ranges.size(); ++r) {
    if (ranges[r].empty() || (function.registers[r].type == Type::pred) != predicate) continue;
    if (excluded[r] || is_formal(function, r)) continue;
    const bool is_operand = r < is_a.size() && is_a[r];
    const double cost = std::max(ranges[r].weight, 1.0) * (constants.find(r) != nullptr ? move : 1);
    const double gain = (is_operand ? last : 1) * pressure.crowded(ranges[r]) *
                        static_cast<double>(std::max(1U, rows_of(function.registers[r].type))) /
                        cost;
    if (gain > best) {
      best = gain;
      victim = r;
    }
  }
  LOCKSTEP_CHECK(victim != ir::no_register, "register allocation: nothing left to spill");
  return victim;
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
  Constants constants;
  for (;;) {
    Pressure of_predicates(function, ranges, true), of_rows(function, ranges, false);
    bool predicate = of_predicates.most() > maximum_predicates;
    // Rows are assigned only when they may suffice, since assigning costs more than everything else
    // here.
    if (!predicate && of_rows.most() + reserved_registers > maximum_registers) {
      predicate = count_predicates(function, ranges) > maximum_predicates;
    } else if (!predicate) {
      Allocation allocation = assign_rows(function, ranges, maximum_registers);
      predicate = allocation.predicates > maximum_predicates;
      if (!predicate && allocation.registers_per_thread <= maximum_registers) {
        allocation.spill_bytes = function.local_bytes - local_before;
        separate_pairs(function, ranges, allocation);
        return allocation;
      }
    }
    if (constants.is_empty()) constants = Constants(function);
    Pressure& pressure = predicate ? of_predicates : of_rows;
    pressure.find_crowded(predicate ? maximum_predicates : maximum_registers - reserved_registers);
    const std::uint32_t victim =
        choose_victim(function, ranges, pressure, predicate, temporaries, operands, constants);
    spill(function, flow, victim, constants, ranges, temporaries);
  }
}

}  // namespace lockstep::isa::lowering
