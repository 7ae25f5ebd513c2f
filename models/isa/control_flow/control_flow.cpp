#include "models/isa/control_flow/control_flow.hpp"

#include <algorithm>
#include <unordered_set>

#include "models/isa/control_flow/dominators.hpp"
#include "models/isa/opcodes/table.hpp"

namespace lockstep::isa {
namespace {

bool guarded(const ir::Operation& operation) {
  return operation.guard.kind != ir::Operand::Kind::none;
}

bool falls_through(const ir::Block& block) {
  if (block.operations.empty()) return true;
  const ir::Operation& last = block.operations.back();
  const bool leaves = is_branch(last.opcode) || ends_thread(last.opcode);
  return !leaves || guarded(last);
}

/// Returns whether the block does nothing but end the thread.
bool only_ends(const ir::Block& block) {
  return !block.operations.empty() && ends_thread(block.operations.front().opcode) &&
         !guarded(block.operations.front());
}

void add_successor(ir::Block& block, std::uint32_t target) {
  if (std::find(block.successors.begin(), block.successors.end(), target) == block.successors.end())
    block.successors.push_back(target);
}

/// Adds the targets of a table, each once, in the table's order.
void add_successors(ir::Block& block, const std::vector<std::uint32_t>& table) {
  std::unordered_set<std::uint32_t> seen(block.successors.begin(), block.successors.end());
  for (const std::uint32_t target : table)
    if (seen.insert(target).second) block.successors.push_back(target);
}

/// Returns the edges that count for meeting.
std::vector<std::vector<std::uint32_t>> meeting_edges(const ir::Function& function) {
  std::vector<std::vector<std::uint32_t>> edges;
  for (const ir::Block& block : function.blocks) {
    std::vector<std::uint32_t> kept;
    for (const std::uint32_t s : block.successors)
      if (!only_ends(function.blocks[s])) kept.push_back(s);
    edges.push_back(kept.empty() ? block.successors : kept);
  }
  return edges;
}

/// Returns the blocks that lead to the end, and the end itself, whose number is one more than that
/// of the last block.
std::vector<std::uint32_t> leading_to_end(const std::vector<std::vector<std::uint32_t>>& edges) {
  const auto end = static_cast<std::uint32_t>(edges.size());
  std::vector<std::vector<std::uint32_t>> sources(edges.size() + 1);
  for (std::uint32_t b = 0; b < end; ++b)
    for (const std::uint32_t s : edges[b]) sources[s].push_back(b);
  std::vector<std::uint32_t> order;
  std::vector<std::pair<std::uint32_t, std::size_t>> stack{{end, 0}};
  std::vector<bool> seen(edges.size() + 1, false);
  seen[end] = true;
  while (!stack.empty()) {
    auto& [block, next] = stack.back();
    if (next < sources[block].size()) {
      const std::uint32_t source = sources[block][next++];
      if (!seen[source]) {
        seen[source] = true;
        stack.emplace_back(source, 0);
      }
    } else {
      order.push_back(block);
      stack.pop_back();
    }
  }
  return order;
}

bool has_guarded_end(const ir::Block& block) {
  return std::any_of(block.operations.begin(), block.operations.end(),
                     [](const ir::Operation& o) { return ends_thread(o.opcode) && guarded(o); });
}

/// Returns a way out of a loop that only the end of threads leaves.  The block whose lanes leave
/// it, or the last one of an endless loop, is taken to lead to the end, so that other lanes still
/// meet.
std::uint32_t way_out(const ir::Function& function,
                      const std::vector<std::vector<std::uint32_t>>& edges,
                      const std::vector<std::uint32_t>& order) {
  std::vector<bool> leads(edges.size() + 1, false);
  for (const std::uint32_t b : order) leads[b] = true;
  std::uint32_t last = no_block;
  for (std::uint32_t b = 0; b < edges.size(); ++b) {
    if (leads[b]) continue;
    last = b;
    // Also an edge that meeting_edges left out.
    if (has_guarded_end(function.blocks[b]) ||
        edges[b].size() < function.blocks[b].successors.size())
      return b;
  }
  return last;
}

}  // namespace

void find_successors(ir::Function& function) {
  if (falls_through(function.blocks.back())) {
    ir::Operation end;
    end.opcode = Opcode::ret;
    if (!function.blocks.back().operations.empty())
      end.line = function.blocks.back().operations.back().line;
    // A guarded branch must stay the last of its block.
    if (!function.blocks.back().operations.empty()) function.blocks.emplace_back();
    function.blocks.back().operations.push_back(end);
  }
  for (std::uint32_t b = 0; b < function.blocks.size(); ++b) {
    ir::Block& block = function.blocks[b];
    block.successors.clear();
    if (!block.operations.empty()) {
      const ir::Operation& last = block.operations.back();
      if (last.opcode == Opcode::bra) add_successor(block, last.sources[0].index);
      if (last.opcode == Opcode::brx) add_successors(block, function.branch_tables[last.immediate]);
    }
    if (falls_through(block)) add_successor(block, b + 1);
  }
}

std::vector<std::uint32_t> immediate_post_dominators(const ir::Function& function) {
  const auto count = static_cast<std::uint32_t>(function.blocks.size());
  const std::uint32_t end = count;  // virtual block behind all ends
  auto edges = meeting_edges(function);
  for (std::vector<std::uint32_t>& targets : edges)
    if (targets.empty()) targets.push_back(end);
  std::vector<std::uint32_t> order = leading_to_end(edges);
  while (order.size() < count + 1) {
    edges[way_out(function, edges, order)].push_back(end);
    order = leading_to_end(edges);
  }
  std::vector<std::vector<std::uint32_t>> sources(count + 1);
  for (std::uint32_t b = 0; b < count; ++b)
    for (const std::uint32_t s : edges[b]) sources[s].push_back(b);
  std::vector<std::uint32_t> post = immediate_dominators(sources, end);
  post.pop_back();
  for (std::uint32_t& p : post)
    if (p == end) p = no_block;
  return post;
}

}  // namespace lockstep::isa
