#include "models/isa/lowering/analysis/flow.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "models/isa/control_flow/dominators.hpp"
#include "models/isa/lowering/analysis/operation.hpp"

namespace lockstep::isa::lowering {

namespace {

/// A list whose entries are all different.
class Targets {
 public:
  void add(std::uint32_t target) {
    if (is_new(target)) list_.push_back(target);
  }
  std::vector<std::uint32_t> take() { return std::move(list_); }

 private:
  bool is_new(std::uint32_t target) {
    constexpr std::size_t few = 16;
    if (list_.size() < few) return std::find(list_.begin(), list_.end(), target) == list_.end();
    if (seen_.empty()) seen_.insert(list_.begin(), list_.end());
    return seen_.insert(target).second;
  }
  std::vector<std::uint32_t> list_;
  std::unordered_set<std::uint32_t> seen_;  ///< targets seen, used once there are many
};

}  // namespace

std::vector<std::uint32_t> successors_of(const ir::Function& function, std::uint32_t block) {
  Targets result;
  const auto add = [&](std::uint32_t target) { result.add(target); };
  for (const ir::Operation& operation : function.blocks[block].operations) {
    if (operation.opcode == Opcode::bra) {
      for (const ir::Operand& source : operation.sources)
        if (source.kind == Kind::label) add(source.index);
    } else if (operation.opcode == Opcode::brx) {
      for (std::uint32_t target : function.branch_tables[operation.immediate]) add(target);
    }
    if (ends_block(operation)) return result.take();
  }
  if (block + 1 < function.blocks.size()) add(block + 1);
  return result.take();
}

namespace {

void depth_first(const Flow& flow, std::vector<std::uint32_t>& post_order) {
  std::vector<std::uint8_t> seen(flow.successors.size());
  std::vector<std::pair<std::uint32_t, std::size_t>> stack;
  if (seen.empty()) return;
  stack.emplace_back(0, 0);
  seen[0] = 1;
  while (!stack.empty()) {
    auto& [block, next] = stack.back();
    if (next == flow.successors[block].size()) {
      post_order.push_back(block);
      stack.pop_back();
      continue;
    }
    const std::uint32_t target = flow.successors[block][next++];
    if (!seen[target]) {
      seen[target] = 1;
      stack.emplace_back(target, 0);
    }
  }
}

// A block's dominator stands before it in the order.
void number_tree(Flow& flow) {
  flow.tree_place.assign(flow.successors.size(), 0);
  flow.tree_size.assign(flow.successors.size(), 1);
  for (std::size_t k = flow.order.size(); k-- > 1;) {
    const std::uint32_t block = flow.order[k];
    flow.tree_size[flow.dominator[block]] += flow.tree_size[block];
  }
  // Next free place for the children of each block.
  std::vector<std::uint32_t> next(flow.successors.size(), 1);
  for (std::size_t k = 1; k < flow.order.size(); ++k) {
    const std::uint32_t block = flow.order[k], above = flow.dominator[block];
    flow.tree_place[block] = flow.tree_place[above] + next[above];
    next[above] += flow.tree_size[block];
  }
}

/// Finds natural loops. Two loops with a common block are nested.  Inner loops are found first, and
/// then stand for all of their blocks.
class LoopFinder {
 public:
  explicit LoopFinder(Flow& flow)
      : flow_(flow), stands_for_(flow.successors.size()), around_(flow.successors.size(), none) {
    std::iota(stands_for_.begin(), stands_for_.end(), 0U);
  }

  void run() {
    std::vector<std::uint32_t> headers;
    for (auto k = flow_.order.size(); k-- > 0;)
      if (find_body(flow_.order[k])) headers.push_back(flow_.order[k]);
    std::reverse(headers.begin(), headers.end());
    const std::vector<std::uint32_t> size = sizes();
    std::stable_sort(headers.begin(), headers.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return size[a] < size[b]; });
    std::vector<std::uint32_t> number(around_.size(), none);
    for (const std::uint32_t header : headers) {
      number[header] = static_cast<std::uint32_t>(flow_.loops.size());
      flow_.loops.push_back({header, none, size[header], {}, {}});
    }
    for (const std::uint32_t b : flow_.order) {
      const std::uint32_t outer = around_[b] == none ? none : number[around_[b]];
      flow_.innermost[b] = number[b] == none ? outer : number[b];
      if (number[b] != none) flow_.loops[number[b]].parent = outer;
    }
    for (std::uint32_t b = 0; b < around_.size(); ++b)
      if (flow_.innermost[b] != none) flow_.loops[flow_.innermost[b]].own_blocks.push_back(b);
    for (std::uint32_t l = 0; l < flow_.loops.size(); ++l)
      if (const std::uint32_t parent = flow_.loops[l].parent; parent != none)
        flow_.loops[parent].inner.push_back(l);
    find_depths();
  }

 private:
  static constexpr std::uint32_t none = Flow::no_loop;

  std::uint32_t outermost(std::uint32_t b) {
    while (stands_for_[b] != b) b = stands_for_[b] = stands_for_[stands_for_[b]];
    return b;
  }

  /// Finds the body of the loop with this header.  Returns whether there is such a loop.
  bool find_body(std::uint32_t header) {
    std::vector<std::uint32_t> work;
    bool loops = false;
    for (const std::uint32_t p : flow_.predecessors[header])
      if (flow_.reachable(p) && flow_.dominates(header, p)) {
        work.push_back(p);
        loops = true;
      }
    while (!work.empty()) {
      const std::uint32_t part = outermost(work.back());
      work.pop_back();
      if (part == header) continue;
      stands_for_[part] = header;
      around_[part] = header;
      for (const std::uint32_t p : flow_.predecessors[part])
        if (flow_.reachable(p)) work.push_back(p);
    }
    return loops;
  }

  /// Returns the number of blocks of each loop, by header.  Loops around a block come earlier in
  /// the order.
  std::vector<std::uint32_t> sizes() const {
    std::vector<std::uint32_t> size(around_.size(), 1);
    for (auto k = flow_.order.size(); k-- > 0;)
      if (const std::uint32_t b = flow_.order[k]; around_[b] != none) size[around_[b]] += size[b];
    return size;
  }

  void find_depths() {
    std::vector<std::uint32_t> depth(flow_.loops.size(), 1);
    for (std::size_t l = depth.size(); l-- > 0;)
      if (const std::uint32_t parent = flow_.loops[l].parent; parent != none)
        depth[l] = depth[parent] + 1;
    for (std::uint32_t b = 0; b < around_.size(); ++b)
      if (flow_.innermost[b] != none) flow_.loop_depth[b] = depth[flow_.innermost[b]];
  }

  Flow& flow_;
  std::vector<std::uint32_t> stands_for_;
  std::vector<std::uint32_t> around_;  ///< header of the innermost loop around each block
};

}  // namespace

Flow::Flow(const ir::Function& function) {
  const auto blocks = static_cast<std::uint32_t>(function.blocks.size());
  predecessors.resize(blocks);
  loop_depth.resize(blocks);
  for (std::uint32_t b = 0; b < blocks; ++b) {
    successors.push_back(successors_of(function, b));
    for (std::uint32_t s : successors.back()) predecessors[s].push_back(b);
  }
  depth_first(*this, order);
  std::reverse(order.begin(), order.end());
  position.assign(blocks, unreachable);
  for (std::uint32_t k = 0; k < order.size(); ++k) position[order[k]] = k;
  dominator = blocks == 0 ? std::vector<std::uint32_t>{} : immediate_dominators(successors, 0);
  number_tree(*this);
  innermost.assign(blocks, no_loop);
  LoopFinder(*this).run();
}

bool Flow::contains(const Loop& loop, std::uint32_t block) const {
  const auto wanted = static_cast<std::uint32_t>(&loop - loops.data());
  std::uint32_t l = innermost[block];
  while (l != no_loop && l < wanted) l = loops[l].parent;
  return l == wanted;
}

std::vector<std::uint32_t> Flow::blocks_of(const Loop& loop) const {
  std::vector<std::uint32_t> blocks;
  std::vector<const Loop*> work{&loop};
  while (!work.empty()) {
    const Loop& part = *work.back();
    work.pop_back();
    blocks.insert(blocks.end(), part.own_blocks.begin(), part.own_blocks.end());
    for (const std::uint32_t l : part.inner) work.push_back(&loops[l]);
  }
  return blocks;
}

}  // namespace lockstep::isa::lowering
