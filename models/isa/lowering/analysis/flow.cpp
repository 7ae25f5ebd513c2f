#include "models/isa/lowering/analysis/flow.hpp"

#include <algorithm>

#include "models/isa/lowering/analysis/operation.hpp"

namespace lockstep::isa::lowering {

std::vector<std::uint32_t> successors_of(const ir::Function& function, std::uint32_t block) {
  std::vector<std::uint32_t> result;
  const auto add = [&](std::uint32_t target) {
    if (std::find(result.begin(), result.end(), target) == result.end()) result.push_back(target);
  };
  for (const ir::Operation& operation : function.blocks[block].operations) {
    if (operation.opcode == Opcode::bra) {
      for (const ir::Operand& source : operation.sources)
        if (source.kind == Kind::label) add(source.index);
    } else if (operation.opcode == Opcode::brx) {
      for (std::uint32_t target : function.branch_tables[operation.immediate]) add(target);
    }
    if (ends_block(operation)) return result;
  }
  if (block + 1 < function.blocks.size()) add(block + 1);
  return result;
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

std::uint32_t common_dominator(const Flow& flow, std::uint32_t a, std::uint32_t b) {
  while (a != b) {
    while (flow.position[a] > flow.position[b]) a = flow.dominator[a];
    while (flow.position[b] > flow.position[a]) b = flow.dominator[b];
  }
  return a;
}

// Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm.
void find_dominators(Flow& flow) {
  flow.dominator.assign(flow.successors.size(), Flow::unreachable);
  if (flow.order.empty()) return;
  flow.dominator[flow.order[0]] = flow.order[0];
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t k = 1; k < flow.order.size(); ++k) {
      const std::uint32_t block = flow.order[k];
      std::uint32_t best = Flow::unreachable;
      for (std::uint32_t p : flow.predecessors[block]) {
        if (!flow.reachable(p) || flow.dominator[p] == Flow::unreachable) continue;
        best = best == Flow::unreachable ? p : common_dominator(flow, p, best);
      }
      if (flow.dominator[block] != best) {
        flow.dominator[block] = best;
        changed = true;
      }
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
  std::vector<std::uint32_t> next(flow.successors.size(), 1);  // free place below each block
  for (std::size_t k = 1; k < flow.order.size(); ++k) {
    const std::uint32_t block = flow.order[k], above = flow.dominator[block];
    flow.tree_place[block] = flow.tree_place[above] + next[above];
    next[above] += flow.tree_size[block];
  }
}

void find_loops(Flow& flow) {
  const std::size_t blocks = flow.successors.size();
  for (std::uint32_t header : flow.order) {
    Flow::Loop loop{header, std::vector<bool>(blocks), 0};
    std::vector<std::uint32_t> work;
    for (std::uint32_t p : flow.predecessors[header])
      if (flow.reachable(p) && flow.dominates(header, p)) work.push_back(p);
    if (work.empty()) continue;
    loop.contains[header] = true;
    while (!work.empty()) {
      const std::uint32_t block = work.back();
      work.pop_back();
      if (loop.contains[block]) continue;
      loop.contains[block] = true;
      for (std::uint32_t p : flow.predecessors[block])
        if (flow.reachable(p)) work.push_back(p);
    }
    for (std::uint32_t b = 0; b < blocks; ++b)
      if (loop.contains[b]) {
        ++loop.size;
        ++flow.loop_depth[b];
      }
    flow.loops.push_back(std::move(loop));
  }
  std::stable_sort(flow.loops.begin(), flow.loops.end(),
                   [](const auto& a, const auto& b) { return a.size < b.size; });
}

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
  find_dominators(*this);
  number_tree(*this);
  find_loops(*this);
}

}  // namespace lockstep::isa::lowering
