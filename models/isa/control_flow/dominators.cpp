#include "models/isa/control_flow/dominators.hpp"

#include <utility>

namespace lockstep::isa {

namespace {

/// Nodes are called by their number in a depth-first walk.
class Finder {
 public:
  Finder(const std::vector<std::vector<std::uint32_t>>& successors, std::uint32_t root)
      : number_(successors.size(), no_dominator) {
    walk(successors, root);
    predecessors_.resize(node_.size());
    for (std::uint32_t v = 0; v < node_.size(); ++v)
      for (const std::uint32_t s : successors[node_[v]]) predecessors_[number_[s]].push_back(v);
  }

  std::vector<std::uint32_t> run() {
    const auto count = static_cast<std::uint32_t>(node_.size());
    std::vector<std::uint32_t> dominator(count);
    // Nodes that wait for each semidominator.
    std::vector<std::vector<std::uint32_t>> waiting(count);
    ancestor_.assign(count, no_dominator);
    for (std::uint32_t v = 0; v < count; ++v) best_.push_back(v);
    semi_ = best_;
    for (std::uint32_t v = count; v-- > 1;) {
      for (const std::uint32_t p : predecessors_[v])
        if (const std::uint32_t s = semi_[best_above(p)]; s < semi_[v]) semi_[v] = s;
      waiting[semi_[v]].push_back(v);
      ancestor_[v] = parent_[v];
      for (const std::uint32_t w : waiting[parent_[v]]) {
        const std::uint32_t u = best_above(w);
        dominator[w] = semi_[u] < semi_[w] ? u : parent_[v];
      }
      waiting[parent_[v]].clear();
    }
    for (std::uint32_t v = 1; v < count; ++v)
      if (dominator[v] != semi_[v]) dominator[v] = dominator[dominator[v]];
    std::vector<std::uint32_t> result(number_.size(), no_dominator);
    for (std::uint32_t v = 0; v < count; ++v) result[node_[v]] = node_[dominator[v]];
    return result;
  }

 private:
  void walk(const std::vector<std::vector<std::uint32_t>>& successors, std::uint32_t root) {
    std::vector<std::pair<std::uint32_t, std::size_t>> stack;
    const auto enter = [&](std::uint32_t node, std::uint32_t parent) {
      number_[node] = static_cast<std::uint32_t>(node_.size());
      node_.push_back(node);
      parent_.push_back(parent);
      stack.emplace_back(node, 0);
    };
    enter(root, 0);
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      if (next == successors[node].size()) {
        stack.pop_back();
      } else if (const std::uint32_t s = successors[node][next++]; number_[s] == no_dominator) {
        enter(s, number_[node]);
      }
    }
  }

  /// Returns the node with the first semidominator among a node's linked ancestors; shortens the
  /// path there.
  std::uint32_t best_above(std::uint32_t v) {
    if (ancestor_[v] == no_dominator) return best_[v];
    std::vector<std::uint32_t>& path = path_;
    path.clear();
    for (std::uint32_t u = v; ancestor_[ancestor_[u]] != no_dominator; u = ancestor_[u])
      path.push_back(u);
    for (; !path.empty(); path.pop_back()) {
      const std::uint32_t u = path.back(), above = ancestor_[u];
      if (semi_[best_[above]] < semi_[best_[u]]) best_[u] = best_[above];
      ancestor_[u] = ancestor_[above];
    }
    return best_[v];
  }

  std::vector<std::uint32_t> number_;  ///< number of each graph node
  std::vector<std::uint32_t> node_, parent_;
  std::vector<std::vector<std::uint32_t>> predecessors_;
  std::vector<std::uint32_t> semi_, best_, ancestor_, path_;
};

}  // namespace

std::vector<std::uint32_t> immediate_dominators(
    const std::vector<std::vector<std::uint32_t>>& successors, std::uint32_t root) {
  return Finder(successors, root).run();
}

}  // namespace lockstep::isa
