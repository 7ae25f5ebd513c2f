/// Spilling: while a function needs more registers than it may have, the value that is live longest
/// for the least use goes to the thread's local memory; predicates beyond the limit live in
/// registers as 0 or 1 and are compared again before each use.
#include "models/isa/lowering/allocation/allocate.hpp"

#include <algorithm>
#include <vector>

#include "core/error/error.hpp"
#include "core/memory/round_up.hpp"
#include "models/isa/lowering/allocation/live_ranges.hpp"
#include "models/isa/lowering/analysis/operation.hpp"

namespace lockstep::isa::lowering {

namespace {

/// Replaces a register by a short-lived one around each of its uses.
class Spiller {
 public:
  Spiller(ir::Function& function, std::uint32_t victim)
      : function_(function), victim_(victim), type_(function.registers[victim].type) {
    is_predicate_ = type_ == Type::pred;
    if (is_predicate_) {
      home_ = new_register(function, Type::b32);
    } else {
      const std::uint64_t bytes = rows_of(type_) * 4;
      offset_ = round_up(function.local_bytes, bytes);
      function.local_bytes = offset_ + bytes;
    }
  }

  void run(std::vector<std::uint32_t>& temporaries) {
    for (ir::Block& block : function_.blocks) {
      std::vector<ir::Operation> result;
      for (ir::Operation& operation : block.operations) rewrite(operation, result, temporaries);
      block.operations = std::move(result);
    }
  }

 private:
  void rewrite(ir::Operation& operation, std::vector<ir::Operation>& result,
               std::vector<std::uint32_t>& temporaries) {
    bool reads = false, writes = false;
    for_each_use(operation, [&](const ir::Operand& u) { reads = reads || u.index == victim_; });
    for_each_definition(operation,
                        [&](const ir::Operand& d) { writes = writes || d.index == victim_; });
    if (!reads && !writes) {
      result.push_back(std::move(operation));
      return;
    }
    const std::uint32_t temporary = new_register(function_, type_);
    temporaries.push_back(temporary);
    const auto rename = [&](ir::Operand& operand) {
      if (operand.index == victim_) operand.index = temporary;
    };
    for_each_use(operation, rename);
    for_each_definition(operation, rename);
    // A guarded write keeps the other lanes; it may write its own guard, so that saving takes all.
    if (reads || is_guarded(operation)) result.push_back(load(temporary, operation));
    ir::Operation save = store(temporary, operation);
    result.push_back(std::move(operation));
    if (writes) result.push_back(std::move(save));
  }

  ir::Operand whole(std::uint32_t temporary) const {
    return is_predicate_ ? predicate_operand(temporary) : register_operand(temporary);
  }

  ir::Operation load(std::uint32_t temporary, const ir::Operation& beside) const {
    ir::Operation operation;
    operation.line = beside.line;
    operation.destinations = {whole(temporary)};
    if (is_predicate_) {
      operation.opcode = Opcode::setp;
      operation.type = Type::u32;
      operation.comparison = Comparison::ne;
      operation.sources = {register_operand(home_), immediate_operand(0)};
    } else {
      operation.opcode = Opcode::fill;
      operation.type = rows_of(type_) == 2 ? Type::b64 : Type::b32;
      operation.space = Space::local;
      operation.offset = static_cast<std::int64_t>(offset_);
      operation.sources = {ir::Operand{}};
    }
    return operation;
  }

  ir::Operation store(std::uint32_t temporary, const ir::Operation& beside) const {
    ir::Operation operation;
    operation.line = beside.line;
    if (is_predicate_) {
      operation.opcode = Opcode::selp;
      operation.type = Type::b32;
      operation.destinations = {register_operand(home_)};
      operation.sources = {immediate_operand(1), immediate_operand(0), whole(temporary)};
    } else {
      operation.opcode = Opcode::spill;
      operation.type = rows_of(type_) == 2 ? Type::b64 : Type::b32;
      operation.space = Space::local;
      operation.offset = static_cast<std::int64_t>(offset_);
      operation.sources = {ir::Operand{}, whole(temporary)};
    }
    return operation;
  }

  ir::Function& function_;
  std::uint32_t victim_;
  Type type_;
  bool is_predicate_ = false;
  std::uint32_t home_ = 0;    ///< of a predicate
  std::uint64_t offset_ = 0;  ///< of a value
};

std::uint32_t choose_victim(const ir::Function& function, const std::vector<LiveRange>& ranges,
                            bool predicate, const std::vector<std::uint32_t>& temporaries) {
  std::vector<bool> excluded(ranges.size());
  for (const std::uint32_t r : temporaries) excluded[r] = true;
  std::uint32_t victim = ir::no_register;
  double best = 0;
  for (std::uint32_t r = 0; r < ranges.size(); ++r) {
    if (ranges[r].empty() || (function.registers[r].type == Type::pred) != predicate) continue;
    if (excluded[r] || is_formal(function, r)) continue;
    const double gain = ranges[r].length() *
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

/// Rows, or predicates, that are live at once somewhere: no assignment needs fewer.
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
  for (;;) {
    const std::vector<LiveRange> ranges = live_ranges(function);
    bool predicate = most_live(function, ranges, true) > maximum_predicates;
    // Rows are assigned when they may suffice: that costs more than all else here.
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
    Spiller(function, choose_victim(function, ranges, predicate, temporaries)).run(temporaries);
  }
}

}  // namespace lockstep::isa::lowering
