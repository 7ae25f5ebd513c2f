#pragma once

#include <array>

#include "core/statistics/counters.hpp"

namespace lockstep {

/// Sizes of the nodes of a tree (TreeLayout) by height, from the leaves to the root.
inline constexpr const char* tree_node_sizes[] = {"64KiB",  "128KiB", "256KiB",
                                                  "512KiB", "1MiB",   "2MiB"};

/// Number of decisions on nodes by a policy that uses trees, by height.
/// Source: virtual-memory-and-exceptions.md, section 16.
using TreeDecisions = std::array<Counter, std::size(tree_node_sizes)>;

}  // namespace lockstep
