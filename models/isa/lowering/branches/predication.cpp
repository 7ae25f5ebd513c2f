/// Short-branch if-conversion: a few operations behind a branch run under the branch's predicate
/// instead.
///
/// Blocks with votes, shuffles, matches, activemask, barriers, clocks or calls keep their branch,
/// because their results depend on the path.  Source: ptxas treats such branches so; the limits
/// below were found by comparing with its code (docs/validation/lowering.md).

#include "models/isa/lowering/analysis/flow.hpp"
#include "models/isa/lowering/analysis/operation.hpp"
#include "models/isa/lowering/branches/passes.hpp"
#include "models/isa/opcodes/issue_slots.hpp"

namespace lockstep::isa::lowering {

namespace {

constexpr unsigned largest_slots = 12;  ///< issue slots of one arm

class Predication {
 public:
  explicit Predication(ir::Function& function) : function_(function) {}

  bool run() {
    bool changed = false;
    while (sweep()) {
      changed = true;
      simplify_flow(function_);
    }
    return changed;
  }

 private:
  /// Converts from the last block to the first, until a conversion may affect other blocks.
  /// Operations under a guard are in no arm, so that the old flow remains right for the blocks
  /// before.  Empty blocks and gaps between the arms can make blocks neighbours.
  bool sweep() {
    const Flow flow(function_);
    bool changed = false;
    for (auto b = static_cast<std::uint32_t>(function_.blocks.size()); b-- > 0;) {
      if (!flow.reachable(b)) continue;
      const std::size_t before = function_.blocks[b].operations.size();
      if (!triangle(flow, b) && !diamond(flow, b)) continue;
      changed = true;
      // The branch went.
      if (function_.blocks[b].operations.size() < before || leaves_gap_) break;
    }
    return changed;
  }

  ir::Operation* branch_of(std::uint32_t b) {
    auto& operations = function_.blocks[b].operations;
    if (operations.empty() || operations.back().opcode != Opcode::bra) return nullptr;
    ir::Operation& last = operations.back();
    return is_register(last.guard) ? &last : nullptr;
  }

  static std::uint32_t target_of(const ir::Operation& branch) {
    for (const ir::Operand& source : branch.sources)
      if (source.kind == Kind::label) return source.index;
    return Flow::unreachable;
  }

  // Operations of a block without a final jump.
  std::size_t body_size(std::uint32_t b) const {
    const auto& operations = function_.blocks[b].operations;
    const bool jump = !operations.empty() && operations.back().opcode == Opcode::bra;
    return operations.size() - (jump ? 1 : 0);
  }

  bool convertible(std::uint32_t b, const ir::Operand& guard) const {
    const auto& operations = function_.blocks[b].operations;
    unsigned slots = 0;
    for (std::size_t o = 0; o < body_size(b) && slots <= largest_slots; ++o) {
      const ir::Operation& operation = operations[o];
      if (is_guarded(operation) || depends_on_path(operation)) return false;
      if (operation.opcode == Opcode::fence || is_branch(operation) || ends_block(operation))
        return false;
      bool writes_guard = false;
      for_each_definition(operation, [&](const ir::Operand& d) {
        writes_guard = writes_guard || d.index == guard.index;
      });
      if (writes_guard) return false;
      slots += isa::issue_slots(operation);
    }
    return slots <= largest_slots &&
           (operations.size() == body_size(b) || !is_guarded(operations.back()));
  }

  void append_guarded(std::uint32_t from, ir::Operand guard, std::vector<ir::Operation>& into) {
    auto& operations = function_.blocks[from].operations;
    operations.resize(body_size(from));
    for (ir::Operation& operation : operations) {
      operation.guard = guard;
      into.push_back(std::move(operation));
    }
    operations.clear();
  }

  static ir::Operand inverted(ir::Operand guard) {
    guard.negated = !guard.negated;
    return guard;
  }

  // A: @p bra C;  B: ...;  C:
  bool triangle(const Flow& flow, std::uint32_t a) {
    const ir::Operation* branch = branch_of(a);
    const std::uint32_t b = a + 1;
    if (branch == nullptr || b >= function_.blocks.size()) return false;
    const std::uint32_t c = target_of(*branch);
    if (c == b || flow.predecessors[b].size() != 1 || flow.successors[b].size() != 1 ||
        flow.successors[b][0] != c)
      return false;
    const ir::Operand guard = inverted(branch->guard);
    if (!convertible(b, guard)) return false;
    leaves_gap_ = false;
    auto& operations = function_.blocks[a].operations;
    ir::Operation jump = operations.back();
    operations.pop_back();
    append_guarded(b, guard, operations);
    jump.guard = ir::Operand{};
    function_.blocks[b].operations.push_back(std::move(jump));
    return true;
  }

  // A: @p bra D;  B: ...; bra E;  D: ...;  E:
  bool diamond(const Flow& flow, std::uint32_t a) {
    const ir::Operation* branch = branch_of(a);
    const std::uint32_t b = a + 1;
    if (branch == nullptr || b >= function_.blocks.size()) return false;
    const std::uint32_t d = target_of(*branch);
    if (d == b || flow.predecessors[b].size() != 1 || flow.predecessors[d].size() != 1 ||
        flow.successors[b].size() != 1 || flow.successors[d] != flow.successors[b])
      return false;
    const std::uint32_t e = flow.successors[b][0];
    const ir::Operand guard = branch->guard;
    if (e == b || e == d || !convertible(b, guard) || !convertible(d, guard)) return false;
    leaves_gap_ = d != b + 1;
    auto& operations = function_.blocks[a].operations;
    ir::Operation jump = operations.back();
    operations.pop_back();
    append_guarded(b, inverted(guard), operations);
    append_guarded(d, guard, operations);
    jump.guard = ir::Operand{};
    for (ir::Operand& source : jump.sources)
      if (source.kind == Kind::label) source.index = e;
    function_.blocks[b].operations.push_back(jump);
    function_.blocks[d].operations.push_back(std::move(jump));
    return true;
  }

  ir::Function& function_;
  bool leaves_gap_ = false;  ///< the arms of the last diamond did not follow one another
};

}  // namespace

bool predicate_branches(ir::Function& function) {
  return Predication(function).run();
}

}  // namespace lockstep::isa::lowering
