/// Operand legalisation: a machine instruction takes one constant (immediate or constant bank), and
/// only in some operands; zero comes from the zero register.  Other constants are moved into
/// registers, in front of the loops around their users, with one move for all users that it
/// dominates.
/// Source: architecture.md, section 3 "isa".
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "models/isa/lowering/allocation/passes.hpp"
#include "models/isa/lowering/analysis/evaluate.hpp"
#include "models/isa/lowering/analysis/flow.hpp"
#include "models/isa/lowering/analysis/operation.hpp"

namespace lockstep::isa::lowering {

namespace {

/// Registers that hold one constant, each from the end of a block on.  Among those whose blocks
/// dominate a block, the deepest one is the oldest: no move is made where an earlier one dominates.
class Moves {
 public:
  std::optional<std::uint32_t> find(const Flow& flow, std::uint32_t block) const {
    const auto next = by_place_.upper_bound(flow.tree_place[block]);
    if (next == by_place_.begin()) return {};
    for (std::uint32_t m = std::prev(next)->second; m != none; m = moves_[m].around)
      if (flow.dominates(moves_[m].block, block)) return moves_[m].result;
    return {};
  }
  void add(const Flow& flow, std::uint32_t block, std::uint32_t result) {
    const auto number = static_cast<std::uint32_t>(moves_.size());
    const std::uint32_t place = flow.tree_place[block];
    const std::uint32_t end = place + flow.tree_size[block];
    for (auto o = outermost_.lower_bound(place); o != outermost_.end() && o->first < end;) {
      moves_[o->second].around = number;
      o = outermost_.erase(o);
    }
    outermost_.emplace(place, number);
    by_place_.emplace(place, number);
    moves_.push_back({block, result, none});
  }

 private:
  static constexpr std::uint32_t none = 0xffffffff;
  struct Move {
    std::uint32_t block, result;
    std::uint32_t around;  ///< nearest move whose block dominates the block of this one, or none
  };
  std::vector<Move> moves_;
  /// Numbers of moves, by place in the dominator tree.
  std::map<std::uint32_t, std::uint32_t> by_place_, outermost_;
};

class Legalization {
 public:
  explicit Legalization(ir::Function& function)
      : function_(function),
        flow_(function),
        at_end_(function.blocks.size()),
        home_(function.blocks.size(), Flow::unreachable) {}

  void run() {
    for (std::uint32_t b : flow_.order) {
      std::vector<ir::Operation> operations;
      for (ir::Operation& operation : function_.blocks[b].operations) {
        while (legalize_one(operation, b, operations)) {
        }
        operations.push_back(std::move(operation));
      }
      function_.blocks[b].operations = std::move(operations);
    }
    for (std::uint32_t b = 0; b < at_end_.size(); ++b) {
      auto& operations = function_.blocks[b].operations;
      auto end = operations.end();
      while (end != operations.begin() && (is_branch(*(end - 1)) || ends_block(*(end - 1)))) --end;
      operations.insert(end, at_end_[b].begin(), at_end_[b].end());
    }
  }

 private:
  using Constant = std::tuple<int, bool, std::uint32_t, std::int64_t, unsigned>;

  // The source that has to go into a register next, or -1.
  static int offender(const ir::Operation& operation) {
    if (has_trait(operation.opcode, takes_every_constant)) return -1;
    for (std::size_t s = 0; s < operation.sources.size(); ++s) {
      const ir::Operand& source = operation.sources[s];
      const bool address = s == 0 && accesses_memory(operation.opcode);
      if (address && source.kind != Kind::parameter && source.kind != Kind::global_symbol) continue;
      if (is_constant_operand(operation, s) && (address || needs_register(operation, s)))
        return static_cast<int>(s);
    }
    if (constant_operands(operation) < 2) return -1;
    int best = -1;
    for (std::size_t s = 0; s < operation.sources.size(); ++s) {
      if (!is_constant_operand(operation, s) || constant_type(operation, s) == Type::none) continue;
      const bool narrow = bytes_of(constant_type(operation, s)) <= 4;
      if (best < 0 || (narrow && operation.sources[s].kind == Kind::immediate))
        best = static_cast<int>(s);
    }
    return best;
  }

  static bool needs_register(const ir::Operation& operation, std::size_t s) {
    return writes_memory(operation) && s > 0;
  }

  static Type move_type(const ir::Operation& operation, std::size_t s) {
    const ir::Operand& source = operation.sources[s];
    if (source.kind == Kind::parameter) return source.type;
    if (source.kind == Kind::global_symbol) return Type::u64;
    if (writes_memory(operation)) return s == 0 ? Type::u64 : operation.type;
    return constant_type(operation, s);
  }

  bool legalize_one(ir::Operation& operation, std::uint32_t b, std::vector<ir::Operation>& before) {
    const int s = offender(operation);
    if (s < 0) return false;
    ir::Operand& source = operation.sources[static_cast<std::size_t>(s)];
    const Type type = move_type(operation, static_cast<std::size_t>(s));
    ir::Operand constant = source;
    if (constant.kind == Kind::immediate) constant.value = as_type(constant.value, type);
    const Type read_as = source.kind == Kind::parameter && s > 0 ? Type::none : source.type;
    source = register_operand(register_with(constant, type, b, operation.line, before));
    source.type = read_as;
    return true;
  }

  std::uint32_t register_with(const ir::Operand& constant, Type type, std::uint32_t b,
                              std::uint32_t line, std::vector<ir::Operation>& before) {
    Moves& moves = moves_[{static_cast<int>(constant.kind), constant.negated, constant.index,
                           constant.value, bytes_of(type)}];
    if (const auto known = moves.find(flow_, b)) return *known;
    const std::uint32_t home = in_front_of_loops(b);
    ir::Operation move;
    move.opcode = Opcode::mov;
    move.type = type;
    move.line = line;
    move.sources = {constant};
    const Type declared = bytes_of(type) == 8   ? Type::b64
                          : bytes_of(type) == 4 ? Type::b32
                                                : Type::b16;
    const std::uint32_t result = new_register(function_, declared);
    move.destinations = {register_operand(result)};
    (home == b ? before : at_end_[home]).push_back(std::move(move));
    moves.add(flow_, home, result);
    return result;
  }

  /// Returns the block before the outermost loop around this one that has a single entrance.
  std::uint32_t in_front_of_loops(std::uint32_t b) {
    std::uint32_t& home = home_[b];
    if (home != Flow::unreachable) return home;
    home = b;
    // Loops go from inner to outer; the entrance of one may lie in another loop of the same depth.
    for (std::uint32_t l = flow_.innermost[b]; l != Flow::no_loop;) {
      if (const auto before = entrance(flow_.loops[l])) {
        home = *before;
        const std::uint32_t left = l;
        for (l = flow_.innermost[home]; l != Flow::no_loop && l <= left;) l = flow_.loops[l].parent;
      } else {
        l = flow_.loops[l].parent;
      }
    }
    return home;
  }

  std::optional<std::uint32_t> entrance(const Flow::Loop& loop) const {
    std::optional<std::uint32_t> found;
    for (const std::uint32_t p : flow_.predecessors[loop.header]) {
      if (!flow_.reachable(p) || flow_.contains(loop, p)) continue;
      if (found) return {};
      found = p;
    }
    return found;
  }

  ir::Function& function_;
  const Flow flow_;
  std::vector<std::vector<ir::Operation>> at_end_;  ///< moves to append to each block
  std::map<Constant, Moves> moves_;
  std::vector<std::uint32_t> home_;  ///< result of in_front_of_loops for each block, where known
};

}  // namespace

void legalize_operands(ir::Function& function) {
  Legalization(function).run();
}

}  // namespace lockstep::isa::lowering
