#pragma once

#include <cstdint>
#include <vector>

namespace lockstep::isa {

/// Returns, by node of a graph, the node's immediate dominator: the last node that every path from
/// `root` passes before it.  The root's dominator is the root itself; nodes that no path reaches
/// have `no_dominator`.
/// Source: Lengauer, Tarjan: A Fast Algorithm for Finding Dominators in a Flowgraph, 1979, with the
/// simple kind of links: n log n steps whatever the graph looks like.
std::vector<std::uint32_t> immediate_dominators(
    const std::vector<std::vector<std::uint32_t>>& successors, std::uint32_t root);
inline constexpr std::uint32_t no_dominator = 0xffffffff;

}  // namespace lockstep::isa
