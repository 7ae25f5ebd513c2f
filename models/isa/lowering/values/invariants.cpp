/// Loop-invariant motion: pure operations with operands from outside of a loop move in front of the
/// loop.  Source: own choice, in the textbook form.
///
/// Simplified: operations move only into a single block from which the loop is entered, and only if
/// their registers are written once. Slow operations (divisions) do not move to where they might
/// not be needed.
#include <algorithm>

#include "models/isa/lowering/analysis/operation.hpp"
#include "models/isa/lowering/analysis/registers.hpp"
#include "models/isa/lowering/values/passes.hpp"

namespace lockstep::isa::lowering {

namespace {

// Returns the only block outside the loop that leads to its header.
std::uint32_t entrance(const Flow& flow, const Flow::Loop& loop) {
  std::uint32_t found = Flow::unreachable;
  for (std::uint32_t p : flow.predecessors[loop.header]) {
    if (!flow.reachable(p) || flow.contains(loop, p)) continue;
    if (found != Flow::unreachable) return Flow::unreachable;
    found = p;
  }
  return found;
}

bool is_cheap(const ir::Operation& operation) {
  return !has_trait(operation.opcode, is_slow) && operation.opcode != Opcode::mov;
}

class Motion {
 public:
  Motion(ir::Function& function, const Flow& flow, const Definitions& definitions)
      : function_(function),
        flow_(flow),
        definitions_(definitions),
        inside_(function.registers.size()) {}

  /// Moves operations that are constant in the loop to the end of block `target`.
  bool run(const Flow::Loop& loop, std::uint32_t target) {
    std::vector<std::uint32_t> blocks = flow_.blocks_of(loop);
    std::sort(blocks.begin(), blocks.end(), [&](std::uint32_t a, std::uint32_t b) {
      return flow_.position[a] < flow_.position[b];
    });
    ++loop_;
    for (const std::uint32_t b : blocks)
      for (const ir::Operation& operation : function_.blocks[b].operations)
        for_each_definition(operation, [&](const ir::Operand& d) { inside_[d.index] = loop_; });
    std::vector<ir::Operation> moved;
    for (const std::uint32_t b : blocks) {
      auto& operations = function_.blocks[b].operations;
      std::vector<ir::Operation> kept;
      for (ir::Operation& operation : operations)
        (may_move(operation) ? moved : kept).push_back(std::move(operation));
      operations = std::move(kept);
    }
    auto& into = function_.blocks[target].operations;
    auto end = into.end();
    while (end != into.begin() && (is_branch(*(end - 1)) || ends_block(*(end - 1)))) --end;
    into.insert(end, std::make_move_iterator(moved.begin()), std::make_move_iterator(moved.end()));
    return !moved.empty();
  }

 private:
  bool may_move(const ir::Operation& operation) {
    if (!is_pure(operation) || is_guarded(operation) || !is_cheap(operation)) return false;
    if (operation.destinations.size() != 1 || operation.carry_out) return false;
    if (!is_register(operation.destinations[0])) return false;
    const std::uint32_t result = operation.destinations[0].index;
    if (!definitions_.is_single(result)) return false;
    bool invariant = true;
    for_each_use(operation, [&](const ir::Operand& use) {
      invariant = invariant && inside_[use.index] != loop_ && definitions_.is_single(use.index);
    });
    if (invariant) inside_[result] = 0;
    return invariant;
  }

  ir::Function& function_;
  const Flow& flow_;
  const Definitions& definitions_;
  std::vector<std::uint32_t> inside_;  ///< last loop that writes each register
  std::uint32_t loop_ = 0;             ///< loop being looked at, counted from 1
};

}  // namespace

bool hoist_invariants(ir::Function& function) {
  const Flow flow(function);
  // A moved operation is still written once, before all its readers.
  const Definitions definitions(function);
  Motion motion(function, flow, definitions);
  bool changed = false;
  for (const Flow::Loop& loop : flow.loops) {
    const std::uint32_t target = entrance(flow, loop);
    if (target == Flow::unreachable) continue;
    changed = motion.run(loop, target) || changed;
  }
  return changed;
}

}  // namespace lockstep::isa::lowering
