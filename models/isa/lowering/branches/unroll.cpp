/// Unrolling of innermost counted loops of one block.  Loops with constant bounds become straight
/// code; others run four rounds at a time as long as four are left, and the loop itself runs the
/// rest.
///
///   before:  loop: body; @p bra loop;          p: counter < bound
///   after:   q: counter + 3 steps < bound;  @!q bra loop;
///            four: body; body; body; body;  q; @q bra four;  @!p bra end;
///            loop: body; @p bra loop;  end: Three of four tests and branches disappear, sums of
/// addresses fold into offsets, and neighbouring loads can be merged.  Source: ptxas 11.8 for
/// sm_70, on loops that the compiler left alone (docs/validation/lowering.md), of 1 to 200
/// operations and 2 to 100 rounds; `.pragma "nounroll"` is respected.
///
/// Simplified: only loops of one block whose counter and bound are 32-bit integers; a loop with
/// other bounds is left alone if it has barriers, atomics, calls or operations on other lanes,
/// since its lanes may diverge here. ptxas unrolls short bodies with known bounds by up to twelve
/// rounds, and the remaining rounds by two.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <vector>

#include "models/isa/lowering/analysis/evaluate.hpp"
#include "models/isa/lowering/analysis/flow.hpp"
#include "models/isa/lowering/analysis/operation.hpp"
#include "models/isa/lowering/branches/passes.hpp"
#include "models/isa/opcodes/branch_mode.hpp"

namespace lockstep::isa::lowering {
namespace {

constexpr unsigned rounds = 4;
/// Largest bodies that are unrolled, with a constant bound and with another one.
constexpr std::size_t largest_counted_body = 76, largest_body = 48;
/// Largest unrolled body with guarded operations: ptxas unrolls one of 10, but not the loop of
/// bfs_level (36).
constexpr std::size_t largest_guarded_body = 24;
/// Straight code that a loop may become, without its counting.
constexpr std::size_t longest_straight_code = 400;
constexpr unsigned most_rounds = 100;
/// Step, test and branch.
constexpr std::size_t counting = 3;

/// Counting operations at the end of the loop.
struct Count {
  std::uint32_t counter = ir::no_register;
  std::int64_t step = 0;
  ir::Operation test;  ///< test of the stepped counter; source 1 is the bound
};

ir::Operation make(Opcode opcode, Type type, const ir::Operand& to, const ir::Operand& a,
                   const ir::Operand& b) {
  ir::Operation operation;
  operation.opcode = opcode;
  operation.type = type;
  operation.destinations = {to};
  operation.sources = {a, b};
  return operation;
}

/// Changes that unrolling has made to a function.  Blocks keep their numbers until insert().
class Unrolled {
 public:
  explicit Unrolled(ir::Function& function) : function_(function) {}

  /// Puts the test, four rounds and their end in front of a block, which becomes the loop for the
  /// rest.
  void add(std::uint32_t block, std::array<ir::Block, 3> blocks) {
    added_.emplace(block, std::move(blocks));
  }
  bool has(std::uint32_t block) const { return added_.contains(block); }
  /// Returns the edges as they were before anything was unrolled.
  const Flow& flow() {
    if (!flow_) flow_.emplace(function_);
    return *flow_;
  }

  void insert() {
    if (added_.empty()) return;
    // New number of the block that control enters in place of each old one.
    std::vector<std::uint32_t> number;
    std::vector<ir::Block> blocks;
    for (std::uint32_t b = 0; b < function_.blocks.size(); ++b) {
      number.push_back(static_cast<std::uint32_t>(blocks.size()));
      if (const auto found = added_.find(b); found != added_.end())
        for (ir::Block& block : found->second) blocks.push_back(std::move(block));
      blocks.push_back(std::move(function_.blocks[b]));
    }
    for (ir::Block& block : blocks)
      for (ir::Operation& operation : block.operations)
        for (ir::Operand& source : operation.sources)
          if (source.kind == Kind::label) source.index = number[source.index];
    for (auto& table : function_.branch_tables)
      for (std::uint32_t& target : table) target = number[target];
    function_.blocks = std::move(blocks);
    for (const auto& [b, nothing] : added_) {
      const std::uint32_t test = number[b], unrolled = test + 1, rest = test + 3;
      set_target(test, rest);
      set_target(unrolled, unrolled);
      set_target(rest, rest);
    }
  }

 private:
  void set_target(std::uint32_t block, std::uint32_t target) {
    function_.blocks[block].operations.back().sources[0].index = target;
  }

  ir::Function& function_;
  std::optional<Flow> flow_;
  std::map<std::uint32_t, std::array<ir::Block, 3>> added_;
};

class Unrolling {
 public:
  Unrolling(ir::Function& function, Unrolled& unrolled, std::uint32_t block)
      : function_(function), unrolled_(unrolled), block_(block) {}

  bool run() {
    if (!is_loop()) return false;
    count_writes();
    const std::optional<Count> count = find_count();
    if (!count) return false;
    const std::size_t work = body().size() - counting;
    const bool known = count->test.sources[1].kind == Kind::immediate;
    if (const auto all = rounds_of(*count, work)) {
      straighten(*all);
    } else if (work <= largest(known) && lanes_may_part()) {
      build(*count);
    } else {
      return false;
    }
    return true;
  }

 private:
  std::vector<ir::Operation>& body() { return function_.blocks[block_].operations; }

  void count_writes() {
    for (const ir::Operation& operation : body()) {
      stores_under_guard_ |= is_guarded(operation) && writes_memory(operation);
      for_each_definition(operation, [&](const ir::Operand& d) {
        ++writes_[d.index];
        if (is_guarded(operation)) ++guarded_writes_[d.index];
      });
    }
  }

  bool is_loop() {
    const auto& operations = body();
    if (operations.size() < counting || block_ + 1 >= function_.blocks.size()) return false;
    const ir::Operation& last = operations.back();
    return last.opcode == Opcode::bra && last.guard.kind == Kind::predicate &&
           last.sources[0].kind == Kind::label && last.sources[0].index == block_ &&
           last.mode != branch_keeps_rolled;
  }

  std::size_t largest(bool bound_is_known) const {
    if (bound_is_known) return largest_counted_body;
    return guarded_writes_.empty() && !stores_under_guard_ ? largest_body : largest_guarded_body;
  }

  bool lanes_may_part() {
    const auto& operations = body();
    return std::none_of(operations.begin(), operations.end() - 1, [](const ir::Operation& o) {
      return is_scheduling_barrier(o) || has_trait(o.opcode, reads_carry) || o.carry_out ||
             o.opcode == Opcode::stack_save;
    });
  }

  /// Returns the number of rounds, if it is known and the straight code is not too long.
  std::optional<unsigned> rounds_of(const Count& count, std::size_t work) {
    const ir::Operand& bound = count.test.sources[1];
    const std::optional<std::int64_t> first = value_at_entrance(count.counter);
    if (bound.kind != Kind::immediate || !first || has_control()) return {};
    std::int64_t counter = *first;
    for (unsigned done = 1; done * work <= longest_straight_code && done <= most_rounds; ++done) {
      counter = as_type(counter + count.step, Type::s32);
      if (!holds(count.test, as_type(counter, count.test.type),
                 as_type(bound.value, count.test.type)))
        return done;
    }
    return {};
  }

  bool has_control() {
    const auto& operations = body();
    return std::any_of(operations.begin(), operations.end() - 1, [](const ir::Operation& o) {
      return is_branch(o) || ends_block(o) || o.opcode == Opcode::stack_save;
    });
  }

  /// Returns the value of the register when the loop is entered, if the block before the loop says
  /// so.
  std::optional<std::int64_t> value_at_entrance(std::uint32_t index) const {
    const Flow& flow = unrolled_.flow();
    if (!flow.reachable(block_) || flow.predecessors[block_].size() != 2) return {};
    // What leaves an unrolled loop comes from two blocks.
    if (block_ > 0 && unrolled_.has(block_ - 1)) return {};
    const auto& edges = flow.predecessors[block_];
    const auto& before = function_.blocks[edges[0] == block_ ? edges[1] : edges[0]].operations;
    for (auto o = before.rbegin(); o != before.rend(); ++o) {
      bool written = false;
      for_each_definition(*o, [&](const ir::Operand& d) { written = written || d.index == index; });
      if (!written) continue;
      const bool known = o->opcode == Opcode::mov && !is_guarded(*o) && o->sources.size() == 1 &&
                         o->sources[0].kind == Kind::immediate;
      return known ? std::optional(o->sources[0].value) : std::nullopt;
    }
    return {};
  }

  static bool holds(const ir::Operation& test, std::int64_t a, std::int64_t b) {
    switch (test.comparison) {
      case Comparison::ne:
        return a != b;
      case Comparison::lt:
        return a < b;
      case Comparison::le:
        return a <= b;
      case Comparison::gt:
        return a > b;
      default:
        return a >= b;
    }
  }

  std::uint32_t writes(std::uint32_t index) const {
    const auto found = writes_.find(index);
    return found == writes_.end() ? 0 : found->second;
  }

  /// Finds the pattern "counter = counter + step; test = counter ? bound; bra test".
  std::optional<Count> find_count() {
    const auto& operations = body();
    const ir::Operand guard = operations.back().guard;
    if (writes(guard.index) != 1) return {};
    Count count;
    std::size_t at = operations.size();
    for (std::size_t o = 0; o + 1 < operations.size(); ++o)
      if (operations[o].opcode == Opcode::setp &&
          same_value(operations[o].destinations[0], predicate_operand(guard.index)))
        at = o;
    if (at == operations.size()) return {};
    count.test = operations[at];
    if (is_guarded(count.test) || count.test.sources.size() != 2 ||
        count.test.destinations.size() != 1 || count.test.combination != Combination::none ||
        is_float(count.test.type) || bytes_of(count.test.type) != 4 ||
        count.test.sources[0].kind != Kind::reg)
      return {};
    const ir::Operand& bound = count.test.sources[1];
    if (bound.kind != Kind::immediate && !is_constant_bank(bound) &&
        (bound.kind != Kind::reg || writes(bound.index) != 0))
      return {};
    count.counter = count.test.sources[0].index;
    if (writes(count.counter) != 1) return {};
    for (std::size_t o = 0; o < at; ++o) {
      const ir::Operation& step = operations[o];
      if (is_step(step) && step.destinations[0].index == count.counter)
        count.step = static_cast<std::int32_t>(step.sources[1].value);
    }
    if (guard.negated) count.test.comparison = opposite(count.test.comparison);
    return is_counted(count) ? std::optional(count) : std::nullopt;
  }

  /// Returns whether four times the value is a number of 64 bits, too.
  static bool is_short(std::int64_t value) {
    return value < std::int64_t{1} << 40 && value > -(std::int64_t{1} << 40);
  }
  /// Returns whether the operation adds a number to a register.
  static bool is_step(const ir::Operation& o) {
    return o.opcode == Opcode::add && !is_guarded(o) && !o.saturate && !is_float(o.type) &&
           bytes_of(o.type) >= 4 && o.sources.size() == 2 && o.sources[0].kind == Kind::reg &&
           o.sources[1].kind == Kind::immediate && is_short(o.sources[1].value) &&
           o.destinations.size() == 1 && o.destinations[0].kind == Kind::reg &&
           o.sources[0].index == o.destinations[0].index;
  }

  static Comparison opposite(Comparison comparison) {
    switch (comparison) {
      case Comparison::eq:
        return Comparison::ne;
      case Comparison::ne:
        return Comparison::eq;
      case Comparison::lt:
        return Comparison::ge;
      case Comparison::ge:
        return Comparison::lt;
      case Comparison::le:
        return Comparison::gt;
      case Comparison::gt:
        return Comparison::le;
      default:
        return Comparison::none;
    }
  }

  static bool is_counted(const Count& count) {
    constexpr std::int64_t longest_step = 1 << 24;
    if (count.step == 0 || count.step > longest_step || count.step < -longest_step) return false;
    switch (count.test.comparison) {
      case Comparison::ne:
        return true;
      case Comparison::lt:
      case Comparison::le:
        return count.step > 0;
      case Comparison::gt:
      case Comparison::ge:
        return count.step < 0;
      default:
        return false;
    }
  }

  /// Returns the test whether four rounds are left: the first of them is due, and the distance to
  /// the bound is more than three steps (at least three, if the bound itself counts).  Distances
  /// are exact as unsigned numbers once the counter is known to be before the bound; for != they
  /// always are.
  std::vector<ir::Operation> four_left(const Count& count, const ir::Operand& four) {
    const ir::Operand counter = register_operand(count.counter), &bound = count.test.sources[1];
    const ir::Operand distance = register_operand(new_register(function_, Type::u32));
    const bool up = count.step > 0;
    std::vector<ir::Operation> result;
    result.push_back(
        make(Opcode::sub, Type::u32, distance, up ? bound : counter, up ? counter : bound));
    const bool reaches =
        count.test.comparison == Comparison::le || count.test.comparison == Comparison::ge;
    const std::int64_t steps = (rounds - 1) * (up ? count.step : -count.step);
    ir::Operation far = make(Opcode::setp, Type::u32, four, distance, immediate_operand(steps));
    far.comparison = reaches ? Comparison::ge : Comparison::gt;
    if (count.test.comparison != Comparison::ne) {
      const ir::Operand due = predicate_operand(new_register(function_, Type::pred));
      ir::Operation test = make(Opcode::setp, count.test.type, due, counter, bound);
      test.comparison = count.test.comparison;
      result.push_back(std::move(test));
      far.combination = Combination::logical_and;
      far.sources.push_back(due);
    }
    result.push_back(std::move(far));
    return result;
  }

  static ir::Operation branch(const ir::Operand& guard, std::uint32_t target) {
    ir::Operation operation;
    operation.opcode = Opcode::bra;
    operation.mode = branch_keeps_rolled;
    operation.guard = guard;
    operation.sources.resize(1);
    operation.sources[0].kind = Kind::label;
    operation.sources[0].index = target;
    return operation;
  }

  /// Appends one round.  Its results are in registers of their own, except in the last round.
  void append_round(std::vector<ir::Operation>& to, unsigned round, bool last) {
    for (std::size_t o = 0; o + 1 < body().size(); ++o) {
      ir::Operation operation = body()[o];
      const bool steps = is_step(operation) && writes(operation.destinations[0].index) == 1;
      if (steps) {
        // The counter is computed from the begin of the four rounds, so that rounds do not wait for
        // each other.
        ir::Operand& step = operation.sources[1];
        step.value = as_type(step.value * (round + 1), signed_type(operation.type));
      } else {
        for_each_use(operation, [&](ir::Operand& use) { use.index = current(use.index); });
      }
      for_each_definition(operation, [&](ir::Operand& d) {
        // An operation that keeps old values in some lanes cannot move.
        if (guarded_writes_.contains(d.index)) return;
        const std::uint32_t original = d.index;
        if (!last) d.index = new_register(function_, function_.registers[original].type);
        names_[original] = d.index;
      });
      to.push_back(std::move(operation));
    }
  }
  static Type signed_type(Type type) { return bytes_of(type) == 8 ? Type::s64 : Type::s32; }
  std::uint32_t current(std::uint32_t index) const {
    const auto found = names_.find(index);
    return found == names_.end() ? index : found->second;
  }

  void straighten(unsigned all) {
    std::vector<ir::Operation> code;
    for (unsigned round = 0; round < all; ++round) append_round(code, round, round + 1 == all);
    body() = std::move(code);
  }

  void build(const Count& count) {
    const ir::Operand stays = body().back().guard;
    ir::Operand leaves = stays;
    leaves.negated = !leaves.negated;
    const ir::Operand four = predicate_operand(new_register(function_, Type::pred));
    ir::Operand fewer = four;
    fewer.negated = true;
    std::array<ir::Block, 3> blocks;
    blocks[0].operations = four_left(count, four);
    blocks[0].operations.push_back(branch(fewer, block_));
    for (unsigned round = 0; round < rounds; ++round)
      append_round(blocks[1].operations, round, round + 1 == rounds);
    for (ir::Operation& operation : four_left(count, four))
      blocks[1].operations.push_back(std::move(operation));
    blocks[1].operations.push_back(branch(four, block_));
    blocks[2].operations.push_back(branch(leaves, block_ + 1));
    body().back().mode = branch_keeps_rolled;
    unrolled_.add(block_, std::move(blocks));
  }

  ir::Function& function_;
  Unrolled& unrolled_;
  const std::uint32_t block_;
  bool stores_under_guard_ = false;
  /// Writes and guarded writes in the body, by register.
  std::map<std::uint32_t, std::uint32_t> writes_, guarded_writes_;
  std::map<std::uint32_t, std::uint32_t> names_;  ///< registers that hold the values now
};

}  // namespace

bool unroll_loops(ir::Function& function) {
  Unrolled unrolled(function);
  bool changed = false;
  for (std::uint32_t b = 0; b < function.blocks.size(); ++b)
    changed = Unrolling(function, unrolled, b).run() || changed;
  unrolled.insert();
  return changed;
}

}  // namespace lockstep::isa::lowering
