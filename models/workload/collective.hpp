#pragma once

#include <vector>

#include "models/workload/workload.hpp"

namespace lockstep {

/// Returns the copies and launches of a `collective` step.
///
/// reduce_scatter leaves the sum of all buffers' k-th parts in the k-th part of the k-th buffer;
/// all_gather copies the k-th part of the k-th buffer to all; all_reduce does one after the other;
/// broadcast copies the first buffer to the others.  The module's own kernel adds.
/// Source: design of the project; ring, tree and direct as in NCCL.
std::vector<Step> expand_collective(const Node& map, const Workload& workload);

}  // namespace lockstep
