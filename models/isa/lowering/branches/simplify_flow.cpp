/// Control flow clean-up: jumps to jumps and to exits, branches around jumps, empty and unreachable
/// blocks, blocks that only follow one another.
/// Source: own choice, in the textbook form.
#include <algorithm>

#include "models/isa/lowering/analysis/flow.hpp"
#include "models/isa/lowering/analysis/operation.hpp"
#include "models/isa/lowering/branches/passes.hpp"

namespace lockstep::isa::lowering {

namespace {

ir::Operation* last_of(ir::Block& block) {
  return block.operations.empty() ? nullptr : &block.operations.back();
}

ir::Operand* target_of(ir::Operation* operation) {
  if (operation == nullptr || operation->opcode != Opcode::bra) return nullptr;
  for (ir::Operand& source : operation->sources)
    if (source.kind == Kind::label) return &source;
  return nullptr;
}

// Returns whether the operation is control. A guarded end also stays the last one of its block: the
// meeting of lanes is known by block.
bool is_control(const ir::Operation& operation) {
  return is_branch(operation) || ends_thread(operation.opcode);
}

class Cleanup {
 public:
  explicit Cleanup(ir::Function& function)
      : function_(function), predecessors_(function.blocks.size()) {}

  bool run() {
    bool changed = false;
    for (std::uint32_t b = 0; b < function_.blocks.size(); ++b) count_edges(b, 1);
    for (std::uint32_t b = 0; b < function_.blocks.size(); ++b) {
      if (!ends_in_jump(b)) continue;
      // The following code changes edges of this block and the next.
      count_edges(b, -1);
      count_edges(b + 1, -1);
      changed = thread_jump(b) || changed;
      changed = branch_to_exit(b) || changed;
      changed = invert_around_jump(b) || changed;
      changed = drop_jump_to_next(b) || changed;
      count_edges(b, 1);
      count_edges(b + 1, 1);
    }
    changed = remove_unreachable() || changed;
    return merge_chains() || changed;
  }

 private:
  // Returns the final target of a jump to this block, through blocks that only go on.
  std::uint32_t final_target(std::uint32_t block) const {
    for (std::size_t steps = 0; steps < function_.blocks.size(); ++steps) {
      const auto& operations = function_.blocks[block].operations;
      if (operations.empty() && block + 1 < function_.blocks.size()) {
        ++block;
      } else if (operations.size() == 1 && operations[0].opcode == Opcode::bra &&
                 !is_guarded(operations[0])) {
        block = target_of(const_cast<ir::Operation*>(&operations[0]))->index;
      } else {
        break;
      }
    }
    return block;
  }

  bool thread_jump(std::uint32_t b) {
    ir::Operand* target = target_of(last_of(function_.blocks[b]));
    if (target == nullptr) return false;
    const std::uint32_t end = final_target(target->index);
    if (end == target->index) return false;
    target->index = end;
    return true;
  }

  // A branch to a block that only returns is the return.
  bool branch_to_exit(std::uint32_t b) {
    ir::Operation* last = last_of(function_.blocks[b]);
    const ir::Operand* target = target_of(last);
    if (target == nullptr) return false;
    const auto& operations = function_.blocks[target->index].operations;
    if (operations.size() != 1 || is_guarded(operations[0])) return false;
    if (operations[0].opcode != Opcode::exit &&
        !(operations[0].opcode == Opcode::ret && function_.is_entry))
      return false;
    const ir::Operand guard = last->guard;
    *last = operations[0];
    last->guard = guard;
    return true;
  }

  // @p bra X; (next block) bra Y; X:  ->  @!p bra Y; X:
  bool invert_around_jump(std::uint32_t b) {
    if (b + 2 >= function_.blocks.size()) return false;
    ir::Operation* last = last_of(function_.blocks[b]);
    ir::Operand* target = target_of(last);
    if (target == nullptr || target->index != b + 2 || !is_guarded(*last)) return false;
    auto& between = function_.blocks[b + 1].operations;
    // The guarded branch falls into it.
    if (between.size() != 1 || predecessors_[b + 1] != 0) return false;
    const ir::Operand* beyond = target_of(&between[0]);
    if (beyond == nullptr || is_guarded(between[0]) || beyond->index == b + 1) return false;
    target->index = beyond->index;
    last->guard.negated = !last->guard.negated;
    last->uniform = last->uniform && between[0].uniform;
    between.clear();
    return true;
  }

  bool drop_jump_to_next(std::uint32_t b) {
    const ir::Operand* target = target_of(last_of(function_.blocks[b]));
    if (target == nullptr) return false;
    std::uint32_t next = b + 1;
    while (next != target->index && next < function_.blocks.size() &&
           function_.blocks[next].operations.empty())
      ++next;
    if (next != target->index) return false;
    function_.blocks[b].operations.pop_back();
    return true;
  }

  bool ends_in_jump(std::uint32_t b) { return target_of(last_of(function_.blocks[b])) != nullptr; }

  /// Adds `by` for each edge that leaves block `b`.
  void count_edges(std::uint32_t b, int by) {
    if (b >= function_.blocks.size()) return;
    for (const std::uint32_t s : successors_of(function_, b)) predecessors_[s] += by;
  }

  bool remove_unreachable() {
    const Flow flow(function_);
    std::vector<bool> keep(function_.blocks.size());
    bool changed = false;
    for (std::uint32_t b = 0; b < keep.size(); ++b) {
      keep[b] = flow.reachable(b);
      changed = changed || !keep[b];
    }
    if (changed) compact(keep);
    return changed;
  }

  // Merges chains: a block takes in its only successor if it falls into that block and is its only
  // predecessor.
  bool merge_chains() {
    const Flow flow(function_);
    std::vector<bool> keep(function_.blocks.size(), true);
    for (std::uint32_t b = 1; b < keep.size(); ++b) keep[b] = !continues(flow, b);
    std::uint32_t first = 0;  // first block of a chain
    for (std::uint32_t b = 1; b < keep.size(); ++b) {
      if (keep[b]) {
        first = b;
        continue;
      }
      auto& into = function_.blocks[first].operations;
      auto& operations = function_.blocks[b].operations;
      into.insert(into.end(), std::make_move_iterator(operations.begin()),
                  std::make_move_iterator(operations.end()));
      operations.clear();
    }
    const bool changed = std::find(keep.begin(), keep.end(), false) != keep.end();
    if (changed) compact(keep);
    return changed;
  }

  /// Returns whether the block only follows the one before.
  bool continues(const Flow& flow, std::uint32_t b) const {
    if (flow.predecessors[b].size() != 1 || flow.predecessors[b][0] != b - 1) return false;
    const auto& before = function_.blocks[b - 1].operations;
    return flow.successors[b - 1].size() == 1 && (before.empty() || !is_control(before.back()));
  }

  void compact(const std::vector<bool>& keep) {
    std::vector<std::uint32_t> number(keep.size());
    std::uint32_t next = 0;
    std::vector<ir::Block> blocks;
    for (std::uint32_t b = 0; b < keep.size(); ++b) {
      number[b] = next;
      if (!keep[b]) continue;
      ++next;
      blocks.push_back(std::move(function_.blocks[b]));
    }
    for (ir::Block& block : blocks)
      for (ir::Operation& operation : block.operations)
        for (ir::Operand& source : operation.sources)
          if (source.kind == Kind::label) source.index = number[source.index];
    for (auto& table : function_.branch_tables)
      for (std::uint32_t& target : table) target = number[target];
    function_.blocks = std::move(blocks);
  }

  ir::Function& function_;
  std::vector<int> predecessors_;  ///< number of edges into each block
};

}  // namespace

bool simplify_flow(ir::Function& function) {
  return Cleanup(function).run();
}

}  // namespace lockstep::isa::lowering
